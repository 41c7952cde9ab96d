#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/settings.h"

/// What the table of settings knows without looking at any place a value may come from.
namespace tilegym::runtime {

/// The row with this key, variable or alias; null where there is none.
const SettingRow* find_setting_row(std::string_view name);

/// Canonical text of a value, or nothing for a value that the row's kind does not take.
std::optional<std::string> canonical_text(const SettingRow& row, std::string_view text);

/// What the row's kind takes, as a phrase for an error.
std::string wanted_by(const SettingRow& row);

/// A decimal number of 0 or more without sign or space.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace tilegym::runtime
