"""Guards that Dynamo builds for programs of others, in both engines.

`record.py` writes down each tree while Dynamo builds it, `translate.py` builds the same
guards with guardtree, `agree.py` changes what they guard and compares the verdicts,
`replay.py` times both. `programs*.py` is the list of programs. All of that needs torch.

`keep.py` writes some of the trees to `trees/`, as data. `lookalike.py` builds them
again without torch, on objects of the same shape, and `instructions.py` counts what
their checks execute, against `ceilings.json`.
"""
