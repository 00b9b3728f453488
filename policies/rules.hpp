// What a policy's .cpp includes: the decisions it states and the options it reads.
#pragma once

#include "policies/options.hpp"
#include "policies/single_slot.hpp"

namespace kvreplay::policies {

// Makes a single-slot policy's decisions; one function a policy, named NAME_rules.
using MakeRules = std::unique_ptr<SlotRules>(const OptionValues& options, const CacheGeometry& geometry);

}  // namespace kvreplay::policies
