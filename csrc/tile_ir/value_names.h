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
  static constexpr std::int32_t kAlone = -1;

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
  /// The hint of the first result, or of result `index` where each has one; empty: a number.
  [[nodiscard]] std::string hint(const Operation& operation, std::size_t index) const;
  [[nodiscard]] std::string constant_hint(const Operation& operation) const;
  [[nodiscard]] std::string assume_hint(const Operation& operation) const;
  void set(ValueId value, std::string_view hint, Counters& counters);
  void number(ValueId value, Counters& counters);
  /// Whether the hint itself is free in the open blocks; then it is taken.
  [[nodiscard]] bool take(std::string_view hint);

  const Module& module_;
  const Function& function_;
  std::vector<std::string> names_;
  /// Place among the results that share a name, or kAlone.
  std::vector<std::int32_t> places_;
  std::vector<Definition> definitions_;
  /// Hints that are names of the open blocks; a hint with a counter behind it is a name only once.
  std::map<std::string, bool, std::less<>> used_;
  /// The marks of the open blocks, in the order in which they were set.
  std::vector<bool*> taken_;
};

}  // namespace tilegym::tile_ir
