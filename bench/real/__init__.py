"""Guards that Dynamo builds for programs of others, in both engines.

`record.py` writes down each tree while Dynamo builds it, `translate.py` builds the same
guards with guardtree, `agree.py` changes what they guard and compares the verdicts,
`replay.py` times both. `programs*.py` is the list of programs. All of it needs torch.
"""
