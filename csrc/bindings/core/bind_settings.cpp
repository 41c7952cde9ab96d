#include <pybind11/stl.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/core/topics.h"
#include "runtime/log.h"
#include "runtime/settings.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;

py::object python_value(const runtime::Setting& setting) {
  using Kind = runtime::SettingKind;
  switch (setting.row->kind) {
    case Kind::flag:
      return py::bool_(setting.text == "1");
    case Kind::integer:
    case Kind::bytes:
      return py::int_(py::str(setting.text));
    default:
      return py::str(setting.text);
  }
}

py::tuple read_setting(const std::string& name) {
  const auto setting = runtime::read_setting(name);
  if (!setting) {
    throw py::value_error(setting.error().message);
  }
  const runtime::Setting& value = setting.value();
  return py::make_tuple(python_value(value), runtime::name_of(value.origin), value.place);
}

py::list setting_rows() {
  py::list rows;
  for (const runtime::SettingRow& row : runtime::setting_rows()) {
    rows.append(py::make_tuple(row.key, row.variable, row.doc));
  }
  return rows;
}

void hold_setting(const std::string& name, const std::string& until) {
  if (const Status held = runtime::hold_setting(name, until); !held) {
    throw py::value_error(held.error().message);
  }
}

std::optional<std::string_view> bytes_at(PyObject* arguments, Py_ssize_t index) {
  if (!PyTuple_Check(arguments) || index >= PyTuple_GET_SIZE(arguments)) return std::nullopt;
  PyObject* item = PyTuple_GET_ITEM(arguments, index);
  if (!PyBytes_Check(item)) return std::nullopt;
  return std::string_view(PyBytes_AS_STRING(item), static_cast<std::size_t>(PyBytes_GET_SIZE(item)));
}

/// Python tells every change of its environment as it happens, so that one that comes too late is said at once, and
/// nothing has to look for it. Never raises: the change itself is the user's business.
int on_audit_event(const char* event, PyObject* arguments, void*) noexcept {
  const bool set = std::strcmp(event, "os.putenv") == 0;
  if (!set && std::strcmp(event, "os.unsetenv") != 0) return 0;
  try {
    const auto variable = bytes_at(arguments, 0);
    const std::string text =
        variable ? runtime::late_change(*variable, set ? bytes_at(arguments, 1) : std::nullopt) : "";
    if (!text.empty()) runtime::log_once(runtime::LogLevel::warning, text);
  } catch (const std::exception&) {
    return 0;
  }
  return 0;
}

}  // namespace

void bind_settings(py::module_& module) {
  module.def("read_setting", read_setting, py::arg("name"),
             "Value, origin and place of a setting, by key or variable. Raises ValueError for a bad one.");
  module.def("setting_rows", setting_rows, "Key, variable and doc of every setting.");
  module.def("forget_setting_files", runtime::forget_setting_files,
             "Makes the next read find the settings files anew.");
  module.def(
      "log", [](int level, const std::string& text) { runtime::log(static_cast<runtime::LogLevel>(level), text); },
      py::arg("level"), py::arg("text"), "Logs a text; levels run from 0 (trace) to 4 (error).");
  module.def("hold_setting", hold_setting, py::arg("name"), py::arg("until"),
             "Remembers the value of a setting as taken up until something: a later change is warned of, once.");
  if (PySys_AddAuditHook(on_audit_event, nullptr) != 0) PyErr_Clear();
}

}  // namespace tilegym::bindings
