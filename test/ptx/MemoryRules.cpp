// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores. Slots 0 to 3 are data, 4 the address, 5 the site. The other four data slots of a vector of eight
// are in an instruction after it, which never runs.

#include "test/ptx/Block.h"
#include "test/ptx/Decoder.h"

#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

namespace {

enum class Where { Global, NonCoherent, Const, Shared, Generic, Frame, Block };

template <Where W, bool IsStore>
LLVM_ATTRIBUTE_ALWAYS_INLINE uint8_t *locate(const Instruction *i, Thread &t, unsigned bytes) {
  constexpr AccessKind kind = IsStore                   ? AccessKind::Write
                              : W == Where::NonCoherent ? AccessKind::ReadNonCoherent
                                                        : AccessKind::Read;
  if constexpr (W == Where::Frame)
    return reinterpret_cast<uint8_t *>(t.registers) + i->immediate;
  if constexpr (W == Where::Block)
    return const_cast<uint8_t *>(t.parameters) + i->immediate;
  // An address of 32 bits is one of shared memory, whose upper bits are not looked at.
  uint64_t address = t.read<uint64_t>(i->slots[4]) + i->immediate;
  if constexpr (W == Where::Const)
    return accessConst(i, t, address, bytes);
  if constexpr (W == Where::Shared)
    return accessShared(i, t, uint32_t(address), bytes, kind);
  if constexpr (W == Where::Generic)
    if (address >= kSharedWindow)
      return accessShared(i, t, address - kSharedWindow, bytes, kind);
  return accessGlobal(i, t, address, bytes, kind);
}

/// A signed number is extended by its sign, to whatever register it goes.
template <typename T> using Extended = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

template <typename T, unsigned Lanes, Where W> const Instruction *load(const Instruction *i, Thread &t) {
  const uint8_t *from = locate<W, false>(i, t, sizeof(T) * Lanes);
  if (LLVM_UNLIKELY(!from))
    return nullptr;
  for (unsigned lane = 0; lane < Lanes; ++lane) {
    T value;
    std::memcpy(&value, from + lane * sizeof(T), sizeof(T));
    t.write(i[lane / 4].slots[lane % 4], Extended<T>(value));
  }
  return i + llvm::divideCeil(Lanes, 4);
}

template <typename T, unsigned Lanes, Where W> const Instruction *store(const Instruction *i, Thread &t) {
  uint8_t *to = locate<W, true>(i, t, sizeof(T) * Lanes);
  if (LLVM_UNLIKELY(!to))
    return nullptr;
  for (unsigned lane = 0; lane < Lanes; ++lane) {
    T value = t.read<T>(i[lane / 4].slots[lane % 4]);
    std::memcpy(to + lane * sizeof(T), &value, sizeof(T));
  }
  return i + llvm::divideCeil(Lanes, 4);
}

template <typename T, unsigned Lanes> Handler forWhere(Where where, bool isStore) {
  if (isStore) {
    switch (where) {
    case Where::Global:
      return store<T, Lanes, Where::Global>;
    case Where::Shared:
      return store<T, Lanes, Where::Shared>;
    case Where::Generic:
      return store<T, Lanes, Where::Generic>;
    case Where::Frame:
      return store<T, Lanes, Where::Frame>;
    default:
      return nullptr;
    }
  }
  switch (where) {
  case Where::Global:
    return load<T, Lanes, Where::Global>;
  case Where::NonCoherent:
    return load<T, Lanes, Where::NonCoherent>;
  case Where::Const:
    return load<T, Lanes, Where::Const>;
  case Where::Shared:
    return load<T, Lanes, Where::Shared>;
  case Where::Generic:
    return load<T, Lanes, Where::Generic>;
  case Where::Frame:
    return load<T, Lanes, Where::Frame>;
  case Where::Block:
    return load<T, Lanes, Where::Block>;
  }
  return nullptr;
}

template <typename T> Handler forLanes(unsigned lanes, Where where, bool isStore) {
  switch (lanes) {
  case 1:
    return forWhere<T, 1>(where, isStore);
  case 2:
    return forWhere<T, 2>(where, isStore);
  case 4:
    return forWhere<T, 4>(where, isStore);
  case 8:
    return forWhere<T, 8>(where, isStore);
  }
  return nullptr;
}

Handler forType(Type type, unsigned lanes, Where where, bool isStore) {
  switch (type) {
  case Type::S8:
    return forLanes<int8_t>(lanes, where, isStore);
  case Type::S16:
    return forLanes<int16_t>(lanes, where, isStore);
  case Type::S32:
    return forLanes<int32_t>(lanes, where, isStore);
  case Type::Pred:
    return nullptr;
  default:
    break;
  }
  switch (bytesOf(type)) {
  case 1:
    return forLanes<uint8_t>(lanes, where, isStore);
  case 2:
    return forLanes<uint16_t>(lanes, where, isStore);
  case 4:
    return forLanes<uint32_t>(lanes, where, isStore);
  default:
    return forLanes<uint64_t>(lanes, where, isStore);
  }
}

/// Hints about caches change no result.
void dropHints(Decoder &d) {
  d.takeAny({"weak", "volatile"});
  d.takeAny({"ca", "cg", "cs", "lu", "wb", "wt"});
  d.takeAny({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  d.takeAny({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  d.takeAny({"L2::64B", "L2::128B", "L2::256B"});
}

std::optional<Where> takeWhere(Decoder &d) {
  llvm::StringRef space = d.takeAny({"global", "shared", "shared::cta", "const", "param", "param::func", "local"});
  if (space == "local") {
    d.fail("local memory");
    return std::nullopt;
  }
  if (space == "global")
    return d.take("nc") ? Where::NonCoherent : Where::Global;
  return space.empty()                 ? Where::Generic
         : space == "const"            ? Where::Const
         : space.starts_with("shared") ? Where::Shared
                                       : Where::Frame;
}

/// An address of a parameter is a name and an offset.
void decodeParameter(Decoder &d, Type type, unsigned lanes, bool isStore, llvm::ArrayRef<uint32_t> data) {
  const Operand &address = d.statement().operands[isStore ? 0 : 1];
  const ParameterStorage *storage = d.findParameter(address.name);
  if (!storage)
    return d.fail("unknown parameter '" + address.name + "'");
  unsigned bytes = bytesOf(type) * lanes;
  if (address.bits > storage->bytes || storage->bytes - address.bits < bytes)
    return d.fail("access beyond the " + llvm::Twine(storage->bytes) + " bytes of '" + address.name + "'");
  Handler run = forType(type, lanes, storage->inBlock ? Where::Block : Where::Frame, isStore);
  if (!run)
    return d.fail("unknown instruction");
  d.emit(run, {data[0], data[1], data[2], data[3]}, storage->offset + address.bits);
  if (lanes == 8)
    d.emit(run, {data[4], data[5], data[6], data[7]});
}

void decodeAccess(Decoder &d, Type type, Where where, unsigned lanes, bool isStore) {
  const Operand &address = d.statement().operands[isStore ? 0 : 1], &value = d.statement().operands[isStore ? 1 : 0];
  llvm::ArrayRef<Operand> parts = value.kind == Operand::Vector ? llvm::ArrayRef<Operand>(value.parts) : value;
  if (parts.size() != lanes)
    return d.fail("expected " + llvm::Twine(lanes) + " registers but got " + llvm::Twine(parts.size()));
  if (address.kind != Operand::Address)
    return d.fail("expected an address in brackets");
  uint32_t data[8] = {};
  for (unsigned lane = 0; lane < lanes; ++lane)
    data[lane] = isStore ? d.in(parts[lane]) : d.out(parts[lane]);
  if (where == Where::Frame)
    return decodeParameter(d, type, lanes, isStore, data);

  Operand base;
  base.kind = address.name.empty()            ? Operand::Integer
              : address.name.starts_with("%") ? Operand::Register
                                              : Operand::Symbol;
  base.name = address.name;
  uint32_t slot = d.in(base);
  Handler run = forType(type, lanes, where, isStore);
  if (!run)
    return d.fail("unknown instruction");
  uint32_t site = Site::pack(d.moduleNames().module.sites++, isStore, bytesOf(type) * lanes);
  d.emit(run, {data[0], data[1], data[2], data[3], slot, site}, address.bits);
  if (lanes == 8)
    d.emit(run, {data[4], data[5], data[6], data[7]});
}

template <bool IsStore> void decodeMemory(Decoder &d) {
  dropHints(d);
  auto where = takeWhere(d);
  llvm::StringRef vector = d.takeAny({"v2", "v4", "v8"});
  auto type = d.takeType();
  if (!where || !type || !d.hasOperands(2))
    return !where ? void() : d.fail("unknown type");
  decodeAccess(d, *type, *where, vector.empty() ? 1 : vector[1] - '0', IsStore);
}

} // namespace

void resid::ptx::addMemoryRules(Rules &rules) {
  rules["ld"] = decodeMemory<false>;
  rules["st"] = decodeMemory<true>;
}
