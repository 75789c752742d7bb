"""More programs: modules, training, subclasses, operators, transforms, models."""

from __future__ import annotations

import copy
import gc
from typing import Any

import torch
from scenarios import Compile, ones, scenario
from torch import nn


def mlp() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


@scenario
def module(compile: Compile) -> Any:
    model = mlp()
    f = compile(model)
    found = [f(ones(2, 4)), f(ones(3, 4))]
    model.eval()
    return found, f(ones(2, 4))


@scenario
def module_attributes(compile: Compile) -> Any:
    class Scaled(nn.Module):
        scale = 2

        def forward(self, x: Any) -> Any:
            return x * self.scale

    model = Scaled()
    f = compile(model)
    found = [f(ones(2))]
    model.scale = 3
    found.append(f(ones(2)))
    del model.scale
    return found, f(ones(2))


@scenario
def modules_of_one_code(compile: Compile) -> Any:
    class Add(nn.Module):
        def __init__(self, k: int) -> None:
            super().__init__()
            self.k = k

        def forward(self, x: Any) -> Any:
            return x + self.k

    models = [compile(Add(k), dynamic=False) for k in range(6)]
    return [f(ones(2)) for f in models * 2]


@scenario
def compiled_in_place(compile: Compile) -> Any:
    model = mlp()
    model.compile(backend="eager")
    return model(ones(2, 4)), model(ones(2, 4))


@scenario
def hooks_of_modules(compile: Compile) -> Any:
    model = mlp()
    model[1].register_forward_hook(lambda module, args, output: output * 2)
    f = compile(model)
    return f(ones(2, 4)), f(ones(2, 4))


@scenario
def batch_norm_and_dropout(compile: Compile) -> Any:
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.0))
    f = compile(model)
    found = [f(ones(3, 4)), f(ones(3, 4))]
    return found, f.eval()(ones(3, 4)), model[0].running_mean.clone()


@scenario
def training(compile: Compile) -> Any:
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    f, losses = compile(model), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = f(ones(2, 4)).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


@scenario
def compiled_step(compile: Compile) -> Any:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    step = compile(optimizer.step)
    for _ in range(3):
        optimizer.zero_grad()
        model(ones(2, 4)).square().sum().backward()
        step()
    return [each.detach().clone() for each in model.parameters()]


@scenario
def own_function_of_autograd(compile: Compile) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 5

    x = ones(2, requires_grad=True)
    f = compile(lambda x: Double.apply(x) + 1)
    f(x).sum().backward()
    return f(x).detach(), x.grad


@scenario
def subclass(compile: Compile) -> Any:
    class Mine(torch.Tensor):
        pass

    f = compile(lambda x: x + 1)
    mine = ones(2).as_subclass(Mine)
    return type(f(mine)).__name__, f(ones(2)), type(f(mine)).__name__


@scenario
def parameters_and_buffers(compile: Compile) -> Any:
    f = compile(lambda x: x * 2)
    return f(nn.Parameter(ones(2))).detach(), f(ones(2)), f(nn.Buffer(ones(2)))


@scenario
def custom_operator(compile: Compile) -> Any:
    name = "guardtree_tests::triple"
    if not hasattr(torch.ops.guardtree_tests, "triple"):

        @torch.library.custom_op(name, mutates_args=())
        def triple(x: torch.Tensor) -> torch.Tensor:
            return x * 3

        triple.register_fake(lambda x: torch.empty_like(x))
    f = compile(lambda x: torch.ops.guardtree_tests.triple(x) + 1)
    return f(ones(2)), f(ones(3))


@scenario
def functional_grad(compile: Compile) -> Any:
    f = compile(lambda x: torch.func.grad(lambda y: (y * y).sum())(x))
    return f(ones(2)), f(ones(2))


@scenario
def vmap(compile: Compile) -> Any:
    f = compile(lambda x: torch.func.vmap(lambda y: y.sum())(x))
    return f(ones(2, 3)), f(ones(2, 3))


@scenario
def inside_vmap(compile: Compile) -> Any:
    f = compile(lambda x: x * 2)
    first = f(ones(3))
    return first, torch.func.vmap(f)(ones(2, 3)), f(ones(3))


@scenario
def functional_call(compile: Compile) -> Any:
    model = mlp()
    values = {name: each * 2 for name, each in model.named_parameters()}
    f = compile(lambda v, x: torch.func.functional_call(model, v, x))
    return f(values, ones(2, 4)).detach(), f(values, ones(2, 4)).detach()


@scenario
def higher_order_cond(compile: Compile) -> Any:
    def f(x: Any) -> Any:
        return torch.cond(x.sum() > 2, lambda x: x + 1, lambda x: x - 1, (x,))

    g = compile(f)
    return g(ones(2)), g(ones(4)), g(ones(2))


@scenario
def checkpoint(compile: Compile) -> Any:
    model = mlp()

    def f(x: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)

    g = compile(f)
    g(ones(2, 4)).sum().backward()
    return g(ones(2, 4)).detach(), model[0].weight.grad


@scenario
def an_object_goes(compile: Compile) -> Any:
    def make() -> Any:
        model = mlp()
        return lambda x: model(x)

    def f(g: Any, x: Any) -> Any:
        return g(x)

    compiled, found = compile(f), []
    for _ in range(2):
        found.append(compiled(make(), ones(2, 4)).detach())
        gc.collect()
    return found


@scenario
def copied_modules(compile: Compile) -> Any:
    model = mlp()
    f, g = compile(model), compile(copy.deepcopy(model))
    return f(ones(2, 4)), g(ones(2, 4)), f(ones(2, 4))


@scenario
def random_numbers(compile: Compile) -> Any:
    import random

    def f(x: Any) -> Any:
        return x + random.randint(0, 9)

    g, found = compile(f), []
    for _ in range(2):
        random.seed(3)
        found.append(g(ones(2)))
        found.append(random.random())
    return found


@scenario
def sparse_and_meta(compile: Compile) -> Any:
    f = compile(lambda x: x + x)
    return f(ones(2)), f(ones(2, device="meta")).shape, f(ones(2).bool())


@scenario
def numpy_inside(compile: Compile) -> Any:
    f = compile(lambda x: torch.from_numpy(x.numpy() * 2))
    return f(ones(2)), f(ones(2))


@scenario
def tiny_llama(compile: Compile) -> Any:
    try:
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError:
        return None
    torch.manual_seed(0)
    settings = LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=32, use_cache=False,
    )  # fmt: skip
    model = LlamaForCausalLM(settings).eval()
    f = compile(model)
    words = torch.ones(1, 8, dtype=torch.int64)
    return f(words).logits.detach(), f(words[:, :6]).logits.detach()


@scenario
def exported(compile: Compile) -> Any:
    """Compiled code beside torch.export, of one model."""
    model = mlp()
    f = compile(model)
    found = [f(ones(2, 4))]
    program = torch.export.export(model, (ones(2, 4),))
    found += [f(ones(2, 4)), program.module()(ones(2, 4))]
    found += [compile(program.module())(ones(2, 4)), f(ones(3, 4))]
    return found, [node.op for node in program.graph.nodes]


@scenario
def exported_by_dynamo(compile: Compile) -> Any:
    def add(x: Any) -> Any:
        return x.sin() + 1

    f = compile(add)
    found = [f(ones(2))]
    graph, guards = torch._dynamo.export(add)(ones(2))
    return [*found, graph(ones(2)), f(ones(2))], len(guards) > 0


@scenario
def compiled_ahead_of_time(compile: Compile) -> Any:
    """A function that carries its own compiled code and guards: no hook is asked."""
    f = compile(lambda x: x + 1, fullgraph=True)
    made = f.aot_compile(((ones(2),), {}))
    found = [made(ones(2)), f(ones(2))]
    try:
        made(ones(3, 3))
    except RuntimeError as error:
        return found, type(error).__name__
    return found
