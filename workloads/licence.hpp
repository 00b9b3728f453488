// Licences as a workload states them: SPDX expressions.
#pragma once

#include <string_view>

namespace kvreplay::workloads {

// What is expected where a licence is not one.
inline constexpr const char* licence_form =
    "an SPDX licence expression (MIT, Apache-2.0 AND PSF-2.0, (MIT OR X) AND Y) or NOASSERTION";

// Whether the form is that of an SPDX expression: names joined by AND and OR, WITH between two names, parentheses in
// pairs. Names are not looked up, since the list of licences grows.
bool is_licence(std::string_view text);

}  // namespace kvreplay::workloads
