#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// The names of a function's values in its text, without the percent sign: hints made unique, else numbers. Names are
/// given block by block, those of an operation's regions after everything in its own block.
class ValueNames {
 public:
  ValueNames(const Module& module, const Function& function);

  /// Appends "%name", with "#k" where the value is one of several under a common name.
  void append(std::string& out, ValueId value) const;
  /// Appends an operation's results as they stand before the equals sign.
  void append_results(std::string& out, const Operation& operation) const;

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// "hint", "hint_number" or "number". The hint lies in `used_`.
  struct Name {
    std::string_view hint;
    std::uint32_t number = kNone;
    /// Place among the results that share the name, or kNone.
    std::uint32_t place = kNone;
  };
  /// Who gives a value its name.
  struct Definition {
    const Operation* operation = nullptr;
    std::size_t result = 0;
  };
  struct Counters {
    std::uint32_t value = 0;
    std::uint32_t argument = 0;
    std::uint32_t conflict = 0;
  };

  void name_block(const Operation* parent, const Block& block, Counters counters);
  void name_arguments(const Operation* parent, const Block& block, Counters& counters);
  void name_results(const Operation& operation, Counters& counters);
  void append_name(std::string& out, const Name& name) const;
  /// Sets `name_` to the hint of the first result, or of result `index` where each has one; empty: a number.
  void hint(const Operation& operation, std::size_t index);
  void constant_hint(const Operation& operation);
  void assume_hint(const Operation& operation);
  /// Gives a value the name `name_`, made unique.
  void set(ValueId value, Counters& counters);

  const Module& module_;
  std::vector<Name> names_;
  std::vector<Definition> definitions_;
  /// Hints, and whether each is a name of the open blocks; a hint with a counter behind it is a name only once.
  std::map<std::string, bool, std::less<>> used_;
  /// The marks of the open blocks, in the order in which they were set.
  std::vector<bool*> taken_;
  /// The hint under construction.
  std::string name_;
};

}  // namespace tilegym::tile_ir
