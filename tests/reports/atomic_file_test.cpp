#include "reports/atomic_file.hpp"

#include "tests/catch.hpp"
#include "tests/reports/outside.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kvreplay::reports {
namespace {

namespace fs = std::filesystem;
using tests::content_of;
using tests::TemporaryFolder;

std::string error_of(const std::string& path) {
  try {
    write_atomically(path, "content");
  } catch (const FileError& error) {
    CHECK(std::string(error.what()).find(error.cure) != std::string::npos);
    return error.what();
  }
  return "no error";
}

TEST_CASE("a file is written and replaced, and nothing else is left in its folder") {
  const TemporaryFolder folder;
  const std::string path = folder.path("result.json");
  write_atomically(path, "old, and longer");
  write_atomically(path, "new");
  CHECK(content_of(path) == "new");
  write_atomically(path, "");
  CHECK(content_of(path).empty());
  CHECK(folder.names() == std::vector<std::string>{"result.json"});
}

TEST_CASE("a path without a folder is written into the current one") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path("."));
  write_atomically("here.json", "x");
  fs::current_path(before);
  CHECK(content_of(folder.path("here.json")) == "x");
}

TEST_CASE("targets that cannot be written are named with a cure") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(folder.path("none/x.json")),
             Catch::Contains("does not exist") && Catch::Contains("make the folder first"));
  CHECK_THAT(error_of(folder.path(".")), Catch::Contains("is a folder") && Catch::Contains("name a file in it"));
  CHECK_THAT(error_of(folder.path("new/")), Catch::Contains("ends in /"));
  CHECK_THAT(error_of(folder.file("plain", "x") + "/x.json"), Catch::Contains("Not a directory"));
  CHECK_THAT(error_of(folder.path(std::string(300, 'n'))), Catch::Contains("shorter name"));
  CHECK_THAT(error_of(""), Catch::Contains("no file name"));
  CHECK(folder.names() == std::vector<std::string>{"plain"});
}

TEST_CASE("a place is looked at ahead of the writing, and nothing is left there") {
  const TemporaryFolder folder;
  const auto error_at = [](const std::string& path) -> std::string {
    try {
      check_writable(path);
    } catch (const FileError& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(error_at(folder.path("new.json")) == "no error");
  CHECK(folder.names().empty());
  CHECK(error_at(folder.file("old.json", "old")) == "no error");
  CHECK(content_of(folder.path("old.json")) == "old");
  CHECK(error_at("/dev/full") == "no error");
  fs::create_symlink("gone/x.json", folder.path("link"));
  for (const std::string& path : {folder.path("link"), folder.path("none/x.json"), folder.path("new/"),
                                  folder.path(std::string(300, 'n')), folder.path("."), std::string("/proc/x.json")}) {
    INFO(path);
    CHECK(error_at(path) != "no error");
    CHECK(error_at(path) == error_of(path));
  }
}

TEST_CASE("a full device is an error, an empty one takes everything") {
  CHECK_THAT(error_of("/dev/full"),
             Catch::StartsWith("/dev/full: cannot write: No space left") && Catch::Contains("make room"));
  CHECK_NOTHROW(write_atomically("/dev/null", "content"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a file that may not be written stays, also where its folder would allow it") {
  if (::geteuid() == 0) {
    // The superuser may write anything; a child without that right does the test.
    const TemporaryFolder folder;
    const std::string path = folder.file("kept.json", "old");
    fs::permissions(folder.path("."), fs::perms::all);
    ::chmod(path.c_str(), 0444);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setuid(65534) != 0) ::_exit(3);
      try {
        write_atomically(path, "new");
      } catch (const FileError&) {
        ::_exit(7);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(content_of(path) == "old");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder.file("kept.json", "old");
  ::chmod(path.c_str(), 0444);
  CHECK_THAT(error_of(path), Catch::Contains("Permission denied"));
  CHECK(content_of(path) == "old");
}

TEST_CASE("a file that does not fit leaves the old one whole and no temporary file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("kept.json", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_atomically(path, std::string(100'000, 'x'));
    } catch (const FileError&) {
      ::_exit(7);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(content_of(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"kept.json"});
}

TEST_CASE("killed at any moment, the file is the old one or the new one, and the next write works") {
  const TemporaryFolder folder;
  const std::string path = folder.path("report.json");
  const std::string one(3'000'000, '1'), two(2'000'000, '2');
  write_atomically(path, one);
  for (int attempt = 0; attempt < 50; ++attempt) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        write_atomically(path, two);
        write_atomically(path, one);
      }
    }
    ::usleep(static_cast<useconds_t>(500 + 331 * attempt));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const std::string found = content_of(path);
    REQUIRE((found == one || found == two));
  }
  write_atomically(path, "after");
  CHECK(content_of(path) == "after");
}

TEST_CASE("temporary files of killed processes are passed over, also under our own process number") {
  const TemporaryFolder folder;
  std::vector<std::string> left;
  left.reserve(200);
  for (int i = 0; i < 200; ++i) {
    left.push_back(folder.file(".kvreplay-" + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp", "left"));
  }
  write_atomically(folder.path("x.json"), "new");
  CHECK(content_of(folder.path("x.json")) == "new");
  for (const std::string& path : left) CHECK(content_of(path) == "left");
}

TEST_CASE("a symbolic link stays and its target is written, also where it is missing yet") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("real"));
  fs::create_symlink("real/x.json", folder.path("link.json"));
  write_atomically(folder.path("link.json"), "first");
  write_atomically(folder.path("link.json"), "second");
  CHECK(fs::is_symlink(folder.path("link.json")));
  CHECK(content_of(folder.path("real/x.json")) == "second");
  fs::create_symlink("loop", folder.path("loop"));
  CHECK_THAT(error_of(folder.path("loop")), Catch::Contains("links"));
}

TEST_CASE("an existing file keeps its permissions") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.json", "old");
  ::chmod(path.c_str(), 0640);
  write_atomically(path, "new");
  const fs::perms expected = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  CHECK((fs::status(path).permissions() & fs::perms::mask) == expected);
}

TEST_CASE("behind /dev/stdout and descriptors by name, what was printed before stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.txt", "printed before\n");
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (std::freopen(path.c_str(), "a", stdout) == nullptr) ::_exit(3);
      try {
        write_atomically(name, "report\n");
      } catch (const FileError&) {
        ::_exit(7);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(content_of(path) == "printed before\nreport\nreport\nreport\n");
}

}  // namespace
}  // namespace kvreplay::reports
