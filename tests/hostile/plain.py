"""The public names that run no user code, each with the reason.

What is in neither this list nor that of the entry points fails test_matrix.py.
"""

from __future__ import annotations

READS = "it reads what the library keeps, and builds builtin objects of it"
NUMBERS = "its arguments are numbers, strings, types or constants, checked first"
NODE = "it adds a node or a check; the operand is held, and not looked into"
NO_PROTOCOL = "the check reads memory of builtin layouts; overridden methods do not run"
CODE = "its argument is code or a function, of which builtin attributes are read"
TYPE = "it is a type or a constant, and is not called"
WRITES = "it writes or reads text of the library's own"

PLAIN: dict[str, str] = {}


def plain(reason: str, *names: str) -> None:
    for name in " ".join(names).split():
        assert name not in PLAIN, name
        PLAIN[name] = reason


def members(owner: str, reason: str, names: str) -> None:
    plain(reason, *(f"{owner}.{name}" for name in names.split()))


plain(TYPE, "ASK_AGAIN RAISE_ON_MISS Callback FrameState __version__")
plain(TYPE, "Answer.ASK_AGAIN Mode.RAISE_ON_MISS StrictError.__init__")
plain(READS, "assumption_counts features get_eval_frame get_include get_policy")
plain(CODE, "cache_entries code_stats differences is_generator")
plain(CODE, "removed_entries run_only")
plain(READS, "record_history")

DESCRIPTIONS = "AssumedGuards FactDifference GuardCounts ProfileRow Simplification"
for description in DESCRIPTIONS.split():
    members(description, NUMBERS, "__init__ __eq__ __hash__ __repr__")
members("GuardRelation", NUMBERS, "__init__ __eq__ __hash__ __repr__")
members("GuardCheck", "it keeps or hashes what it is given", "__init__ __hash__")

members("CacheEntry", READS, "__repr__")
members("CacheEntry", READS, "__init__ check_fn code errors hits last_error next")
members("Dispatcher", READS, "__len__ __reduce__ __repr__ differences entries")
members("Dispatcher", READS, "on_miss original stats")
members("KeyPlan", NUMBERS, "__init__ __eq__ __hash__ __repr__ alignment bools")
members("KeyPlan", NUMBERS, "callables containers device divisor floats ints others")
members("KeyPlan", NUMBERS, "shape strides strings")
members("MissedCall", READS, "__repr__ args arguments captures dispatcher")
members("MissedCall", READS, "guards kwargs original")
members("CacheExplanation", READS, "__init__ __eq__ __hash__ __repr__ to_dict to_json")
members("EntryExplanation", READS, "__init__ __eq__ __hash__ __repr__ __str__ failures")
members("EntryExplanation", READS, "to_dict")
members("Explanation", READS, "__init__ __repr__ __str__ checks_run failures")
members("Explanation", READS, "invalidated to_dict verdict")
members("Failure", READS, "__init__ __repr__ __str__ error expected kind note path")
members("Failure", READS, "differences nodes python to_dict")
members("Frame", READS, "__init__ __repr__ closure f_builtins f_globals f_lasti")
members("Frame", READS, "f_lineno function")
members("GuardProfile", READS, "__init__ __repr__ __str__ checks clock_ns passed rows")
members("GuardSyntaxError", READS, "__str__ report")
members("GuardedCode", READS, "__repr__ check_fn code")
members("GuardedFunction", READS, "__repr__")
members("GuardedFunction", READS, "__init__ __len__ __reduce__ entries function stats")
members("GuardedFunction", READS, "differences on_miss original")
members("Table", READS, "__len__ __repr__ differences entries")
members("TableEntry", READS, "__init__ errors guards hits last_error")
members("Event", NUMBERS, "__eq__ __hash__ __init__ __repr__ to_dict")
members("History", READS, "__enter__ __exit__ __init__ __repr__ events")
members("Report", WRITES, "__init__ __repr__ save to_html to_json")
members("TensorSpec", NUMBERS, "__init__ __repr__ of replace")

members("GuardManager", READS, "__eq__ __hash__")
members("GuardManager", READS, "__repr__ __str__ assumed checks children counts nodes")
members("GuardManager", READS, "operands parent path profile relations step")
members("GuardManager", WRITES, "__reduce__ digest to_json to_portable_json to_text")
members("GuardManager", "it copies nodes and checks", "include simplified")
members("GuardManager", READS, "order_limits")
members("GuardManager", NODE, "function_match id_match instance_of type_version")
members("GuardManager", NODE, "dict_version distinct_objects tensor_match")
members("GuardManager", NODE, "overlapping_memory integers")
members("GuardManager", NUMBERS, "complex_is_nan data_aligned divisible_by")
members("GuardManager", NUMBERS, "float_is_nan int_range")
members("GuardManager", NUMBERS, "exists int_sign is_false is_none is_not_none is_true")
members("GuardManager", NUMBERS, "length")
members("GuardManager", NUMBERS, "one_of range_iterator str_prefix weakref_alive")
members("GuardManager", NUMBERS, "tuple_iterator_length set_equals dict_keys")
members("GuardManager", NUMBERS, "dict_key_set")
members("GuardManager", NO_PROTOCOL, "builtin closure closure_cell code context_var")
members("GuardManager", NO_PROTOCOL, "defaults deque_item dict_contains dict_key")
members("GuardManager", NO_PROTOCOL, "dict_lacks dict_value function_globals global_")
members("GuardManager", NO_PROTOCOL, "has_static_attr instance_attr kwdefaults")
members("GuardManager", NO_PROTOCOL, "lacks_plain_attr plain_attr")
members("GuardManager", "its function promises to run none", "native_pure")
members("GuardManager", NO_PROTOCOL, "lacks_instance_attr lacks_static_attr list_item")
members("GuardManager", NO_PROTOCOL, "method_function")
members("GuardManager", NO_PROTOCOL, "method_self module module_attr mro referent")
members("GuardManager", NO_PROTOCOL, "set_item size slot storage_offset")
members("GuardManager", NO_PROTOCOL, "stride")
members("GuardManager", NO_PROTOCOL, "tuple_item tuple_iterator_item type type_dict")
