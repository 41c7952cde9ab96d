#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tile_ir/verify.h"
#include "tile_ir/verify_rules.h"

namespace tilegym::tile_ir {

/// A rule that is broken: the four parts of Diagnostic that say so.
struct Finding {
  std::string subject;
  std::string wanted;
  std::string got;
  std::string remedy;
};

/// Collects what the checks find.
class Report {
 public:
  explicit Report(std::size_t limit) : limit_(limit == 0 ? 1 : limit) {}

  void add(std::string_view operation, std::string_view symbol, std::size_t byte_offset, Finding finding);
  [[nodiscard]] bool full() const noexcept { return diagnostics_.size() >= limit_; }
  [[nodiscard]] std::size_t size() const noexcept { return diagnostics_.size(); }
  [[nodiscard]] std::vector<Diagnostic> take() && { return std::move(diagnostics_); }

 private:
  std::size_t limit_;
  std::vector<Diagnostic> diagnostics_;
};

/// The globals of a module; a module may have as many uses as globals.
class GlobalsByName {
 public:
  explicit GlobalsByName(const Module& module);

  /// Null where there is none.
  [[nodiscard]] const Global* find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, const Global*> globals_;
};

/// What all checks of one function see.
struct FunctionContext {
  const Module& module;
  const Function& function;
  const VerifyOptions& options;
  const GlobalsByName& globals;
  Report& report;
  /// The operations around the current one, the outermost first; empty in the function's own block.
  std::vector<const Operation*> ancestors;
};

/// One operation under examination.
class OpCheck {
 public:
  OpCheck(FunctionContext& context, const Operation& operation)
      : context_(context), op(operation), spec(*find_op(static_cast<std::uint64_t>(operation.opcode))) {}

  void fail(Finding finding) const;

  [[nodiscard]] const Module& module() const noexcept { return context_.module; }
  [[nodiscard]] const VerifyOptions& options() const noexcept { return context_.options; }
  [[nodiscard]] std::span<const Operation* const> ancestors() const noexcept { return context_.ancestors; }
  [[nodiscard]] const Global* global(std::string_view name) const { return context_.globals.find(name); }
  [[nodiscard]] const Function& function() const noexcept { return context_.function; }

  [[nodiscard]] TypeId type_id(ValueId value) const noexcept { return context_.function.values[value]; }
  [[nodiscard]] const Type& type(ValueId value) const noexcept { return module().types[type_id(value)]; }
  /// Type of the first operand of a group that has one, and of a result.
  [[nodiscard]] const Type& operand(std::size_t group) const noexcept { return type(op.group(group).front()); }
  [[nodiscard]] const Type& result(std::size_t index = 0) const noexcept { return type(op.results[index]); }

 private:
  FunctionContext& context_;

 public:
  const Operation& op;
  const OpSpec& spec;
};

/// Whether two types are the same, wherever they stand in the table.
[[nodiscard]] bool same_type(const Module& module, TypeId left, TypeId right) noexcept;

[[nodiscard]] bool same_types(const OpCheck& check, std::span<const ValueId> left, std::span<const ValueId> right);

/// Spelling of a type: "tile<4x8xf32>", "tensor_view<?x64xf32, strides=[64,1]>".
[[nodiscard]] std::string text(const Module& module, const Type& type);
[[nodiscard]] std::string text(const OpCheck& check, ValueId value);
[[nodiscard]] std::string text(const OpCheck& check, std::span<const ValueId> values);
[[nodiscard]] std::string text(std::span<const std::int64_t> shape);
/// "operand 'rhs'", with the position in a variadic group.
[[nodiscard]] std::string operand_text(const GroupSpec& group, std::size_t index);
[[nodiscard]] std::string result_text(const OpCheck& check, std::size_t index);

/// Types that values, functions and globals use: what the type section alone does not rule out.
void verify_types(const Module& module, Report& report);
/// Names of functions and globals, signatures, globals.
void verify_symbols(const Module& module, const VerifyOptions& options, Report& report);
/// The location of a function and of an operation in it.
void verify_function_location(const Module& module, const Function& function, Report& report);
void verify_location(const OpCheck& check);
/// The body of a function: visibility of values, regions, and each operation by its row.
void verify_body(FunctionContext& context);
/// Type classes, relations, attribute values and checks of one operation.
void verify_operation(OpCheck& check);
/// Hints of an entry or a memory operation. `keys`: those that it knows.
void verify_hints(const Attribute& hints, std::span<const std::string_view> keys, bool values,
                  const std::string& subject, std::vector<Finding>& findings);

}  // namespace tilegym::tile_ir
