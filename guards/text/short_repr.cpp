// The repr of objects and the message of exceptions, cut while they are produced.
// SPDX-License-Identifier: MIT
#include "short_repr.h"

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"

#include "repr_writer.h"

namespace guardtree {
namespace {

constexpr size_t longest_repr = 120;
constexpr size_t longest_message = 1000;

/// The message of an exception, as `str` returns it.
void write_message(ReprWriter& to, PyObject* exception) {
    const auto slot_of = [](PyObject* type) {
        return reinterpret_cast<PyTypeObject*>(type)->tp_str;
    };
    const reprfunc own = Py_TYPE(exception)->tp_str;
    const bool is_key_error = own == slot_of(PyExc_KeyError);
    PyObject* arguments = reinterpret_cast<PyBaseExceptionObject*>(exception)->args;
    if ((own != slot_of(PyExc_BaseException) && !is_key_error) || !arguments ||
        !PyTuple_CheckExact(arguments)) {
        const auto text = Owned<>::steal(PyObject_Str(exception));
        if (text) return to.write_str(text.get());
        return TextCall::drop_exception();  // the name of the type is enough
    }
    const Owned<> kept = Owned<>::share(arguments);
    if (PyTuple_GET_SIZE(arguments) == 0) return;
    if (PyTuple_GET_SIZE(arguments) > 1) return to.write(arguments);
    PyObject* only = PyTuple_GET_ITEM(arguments, 0);
    return is_key_error ? to.write(only) : to.write_str(only);
}

/// The text that `write` writes. The pending exception is kept, unless there is no
/// memory.
std::string written(size_t room, auto write) {
    std::string text;
    bool has_memory = false;
    {
        const ExceptionPause pause;
        has_memory = allocating([&] {
            ReprWriter writer(room);
            write(writer);
            text = writer.result();
        });
        PyErr_Clear();
    }
    if (!has_memory) throw_no_memory();
    return text;
}

}  // namespace

std::string short_repr(PyObject* object) {
    return written(longest_repr, [&](ReprWriter& to) { to.write(object); });
}

std::string exception_text(PyObject* exception) {
    const std::string text = written(longest_message, [&](ReprWriter& to) {
        if (PyExceptionInstance_Check(exception)) write_message(to, exception);
    });
    return Py_TYPE(exception)->tp_name + (text.empty() ? "" : ": " + text);
}

}  // namespace guardtree
