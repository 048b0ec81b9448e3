// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores. Slots 0 to 3 are data, 4 the address, 5 the site. The other four data slots of a vector of eight
// are in an instruction after it, which never runs.

#include "test/ptx/Block.h"
#include "test/ptx/Handlers.h"

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

Handler chooseHandler(Type type, unsigned lanes, Where where, bool isStore) {
  constexpr OneOf<Type::S8, Type::S16, Type::S32, Type::B8, Type::B16, Type::B32, Type::B64> forMoved;
  bool isExtended = type == Type::S8 || type == Type::S16 || type == Type::S32;
  // What has no sign to be extended by is moved as bits.
  auto moved = isExtended ? type : among<1u, 2u, 4u, 8u>(bytesOf(type), []<unsigned Bytes>() {
    return Bytes == 1 ? Type::B8 : Bytes == 2 ? Type::B16 : Bytes == 4 ? Type::B32 : Type::B64;
  });
  if (type == Type::Pred)
    return nullptr;
  return forMoved(moved, [&]<typename T>() {
    return among<1u, 2u, 4u, 8u>(lanes, [&]<unsigned Lanes>() -> Handler {
      if (isStore)
        return among<Where::Global, Where::Shared, Where::Generic, Where::Frame>(
            where, []<Where W>() -> Handler { return store<T, Lanes, W>; });
      return among<Where::Global, Where::NonCoherent, Where::Const, Where::Shared, Where::Generic, Where::Frame,
                   Where::Block>(where, []<Where W>() -> Handler { return load<T, Lanes, W>; });
    });
  });
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
  if (d.take("local")) {
    d.fail("local memory");
    return std::nullopt;
  }
  Where where = d.takeOne<Where>({{"global", Where::Global},
                                  {"const", Where::Const},
                                  {"shared", Where::Shared},
                                  {"shared::cta", Where::Shared},
                                  {"param", Where::Frame},
                                  {"param::func", Where::Frame}})
                    .value_or(Where::Generic);
  return where == Where::Global && d.take("nc") ? Where::NonCoherent : where;
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
  Handler run = chooseHandler(type, lanes, storage->inBlock ? Where::Block : Where::Frame, isStore);
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

  uint32_t slot = d.in(d.baseOf(address));
  Handler run = chooseHandler(type, lanes, where, isStore);
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
  rules.any["ld"] = decodeMemory<false>;
  rules.any["st"] = decodeMemory<true>;
}
