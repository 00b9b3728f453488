// Facts of the build, written into build_info.cpp by cmake/build_info.cmake at every build.
#pragma once

namespace kvreplay::sim::build_info {

extern const char* const version;
extern const char* const source_folder;  // absolute; where a program that is not installed finds its data
extern const char* const git_commit;     // "unknown" outside a checkout
extern const char* const git_dirty;      // yes, no or unknown
extern const char* const compiler;
extern const char* const flags;
extern const char* const build_type;

}  // namespace kvreplay::sim::build_info
