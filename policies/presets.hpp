// Faithful imitations of one version of an engine, faults included. They take no options.
#pragma once

#include "policies/registry.hpp"

namespace kvreplay::policies {

std::unique_ptr<CachePolicy> make_guidance_0_2(const PolicySetup& setup);
std::unique_ptr<CachePolicy> make_guidance_0_3(const PolicySetup& setup);

}  // namespace kvreplay::policies
