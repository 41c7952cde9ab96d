"""Values and blocks under construction, and values of any type from real operations."""

from __future__ import annotations

from ir_bytecode import Block, Operation, Value
from ir_types import DYNAMIC, VIEWS, NotInBytecode, Scanner, Type

ENDS = ("break", "continue", "return", "yield")


class Values:
    """A part of ir_text.Reader."""

    scan: Scanner
    scopes: list[dict[str, Value]]
    bodies: list[Block]

    def open(self, block: Block) -> None:
        self.scopes.append({})
        self.bodies.append(block)

    def close(self, terminator: str) -> None:
        block = self.bodies.pop()
        self.scopes.pop()
        if not block.operations or block.operations[-1].name not in ENDS:
            block.operations.append(Operation(terminator, {"operands": []}))

    def emit(self, operation: Operation) -> Operation:
        self.bodies[-1].operations.append(operation)
        return operation

    def lookup(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise NotInBytecode(f"{name} is not defined")

    def value_name(self) -> str:
        return self.scan.take(r"%[\w$.-]+(#\d+)?", "a value")

    def value(self) -> Value:
        return self.lookup(self.value_name())

    def values(self) -> list[Value]:
        out = [self.value()] if self.scan.looking_at("%") else []
        while out and self.scan.match(r",(?=\s*%)"):
            out.append(self.value())
        return out

    def make(self, of: Type) -> Value:
        """A value of that type from real operations."""
        if of.kind == "token":
            return self.emit(Operation("make_token", results=[Value(of)])).results[0]
        if of.kind == "tile" and isinstance(of.element, Type):
            return self.make_tile(of, of.element)
        if of.kind == "tensor_view":
            count = [Type("tile", Type("element", "i32"))] * (of.shape + of.strides).count(DYNAMIC)
            sizes = [self.make(item) for item in count]
            split = of.shape.count(DYNAMIC)
            assert isinstance(of.element, Type)
            base = self.make(Type("tile", Type("ptr", of.element)))
            groups = {"base": [base], "dynamic_shape": sizes[:split], "dynamic_strides": sizes[split:]}
            return self.emit(Operation("make_tensor_view", groups, results=[Value(of)])).results[0]
        if of.kind in VIEWS and of.tensor is not None:
            groups = {"tensor_view": [self.make(of.tensor)]}
            return self.emit(Operation("make_" + of.kind, groups, results=[Value(of)])).results[0]
        raise NotInBytecode(f"no operation gives a value of type {of.kind}")

    def make_tile(self, of: Type, element: Type) -> Value:
        if element.kind == "ptr":
            numbers = self.make(Type("tile", Type("element", "i64"), of.shape))
            return self.emit(Operation("int_to_ptr", {"source": [numbers]}, results=[Value(of)])).results[0]
        if element.element == "i4":
            wide = self.make(Type("tile", Type("element", "i8"), of.shape))
            return self.emit(Operation("trunci", {"from": [wide]}, {"overflow": 0}, results=[Value(of)])).results[0]
        return self.emit(Operation("constant", results=[Value(of)])).results[0]
