// Part of Weftwork, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "harness/trace/event_code.h"

#include "harness/trace/section_fields.h"

namespace weft::trace {

void EventEncoder::add(ByteWriter& out, const Event& event) {
  out.varint(event.step);
  write_index(out, event.task, kNoTaskIndex);
  out.varint(static_cast<std::uint64_t>(event.kind));
  out.fixed8(event.width);
  out.fixed8(event.order);
  out.fixed8(event.preempted ? 1 : 0);
  out.varint(event.enabled_count);
  out.varint(event.enabled);
  out.varint(event.operation_index);
  const auto [entry, fresh] = objects_.try_emplace(event.object, objects_.size());
  out.varint(entry->second);
  if (fresh) write_object(out, event.object);
  out.varint(event.value);
  out.varint(event.argument);
  out.varint(event.time);
  out.fixed64(event.digest);
  write_site(out, event.site);
  write_index(out, event.stack, kNoStack);
}

Event EventDecoder::next(ByteReader& in) {
  Event event;
  event.step = in.varint();
  event.task = read_index(in, kNoTaskIndex);
  event.kind = read_enum(in, OpKind::kCount);
  event.width = in.fixed8();
  event.order = in.fixed8();
  event.preempted = in.fixed8() != 0;
  event.enabled_count = static_cast<std::uint16_t>(in.varint_up_to(UINT16_MAX));
  event.enabled = in.varint();
  event.operation_index = in.varint();
  const std::uint64_t number = in.varint_up_to(objects_.size());
  if (number == objects_.size()) objects_.push_back(read_object(in));
  event.object = objects_[number];
  event.value = in.varint();
  event.argument = in.varint();
  event.time = in.varint();
  event.digest = in.fixed64();
  event.site = read_site(in);
  event.stack = read_index(in, kNoStack);
  return event;
}

}  // namespace weft::trace
