"""Compiles the C client, which gets guardtree's functions from the capsule alone."""

import guardtree
from setuptools import Extension, setup

client = Extension(
    "outside.client",
    ["client.c"],
    include_dirs=[guardtree.get_include()],
    define_macros=[("GUARDTREE_HEADER", '"guardtree.h"')],
    extra_compile_args=["-std=c99"],
)
setup(ext_modules=[client])
