// The state every timed replay begins in: an empty cache and no memory of the replay before it.
#pragma once

namespace kvreplay::sim {

// Gives memory that earlier replays freed back to the system. Without it a policy's first storage is sometimes taken
// from pages that are there and sometimes from pages the system has yet to provide, whichever ran before, and its times
// fall into two groups a fifth apart. Does nothing where the C library has no way to.
void return_free_memory();

}  // namespace kvreplay::sim
