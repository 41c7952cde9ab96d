#include "runtime/image_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "runtime/image_cache_counters.h"
#include "runtime/image_cache_files.h"
#include "runtime/image_cache_places.h"
#include "runtime/scoped_place.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

class ImageCacheTest : public ::testing::Test {
 protected:
  ImageCacheTest() { forget_setting_files(); }

  static CacheEntry entry(const std::string& key, std::string payload = "image") {
    return {entry_name(key, "tileirbc"), "arch=sm_90\n", std::move(payload)};
  }
  [[nodiscard]] fs::path file(const CacheEntry& of) const { return images_in(root_) / of.name; }
  [[nodiscard]] std::size_t files() const { return list_cache_files(root_).size(); }

  /// Events of a kind since the test began.
  [[nodiscard]] std::uint64_t count_of(CacheEvent event) const {
    const auto index = static_cast<std::size_t>(event);
    return cache_counts()[index] - before_[index];
  }

  TempFolder place_;
  fs::path root_ = place_.path() / "cache";
  CacheCounts before_ = cache_counts();
  ScopedVariable folder_{"TILEGYM_RS_CACHE_DIR", root_.string()};
  ScopedVariable mode_{"TILEGYM_RS_CACHE", std::nullopt};
  ScopedVariable seeds_{"TILEGYM_RS_CACHE_SEEDS", std::nullopt};
  ScopedVariable record_{"TILEGYM_RS_CACHE_RECORD", std::nullopt};
  ScopedVariable limit_{"TILEGYM_RS_CACHE_MAX", std::nullopt};
  ScopedVariable home_{"HOME", (place_.path() / "home").string()};
  ScopedVariable cache_home_{"XDG_CACHE_HOME", std::nullopt};
};

TEST_F(ImageCacheTest, WhatIsStoredIsFound) {
  EXPECT_EQ(find_image(entry("a").name), std::nullopt);
  store_image(entry("a"));
  EXPECT_EQ(find_image(entry("a").name), "image");
  EXPECT_EQ(count_of(CacheEvent::miss), 1);
  EXPECT_EQ(count_of(CacheEvent::stored), 1);
  EXPECT_EQ(count_of(CacheEvent::hit), 1);
  EXPECT_EQ(files(), 1) << "nothing but the entry";
}

/// Ways to spoil a file, each of which must be seen and mended.
struct Damage {
  const char* name;
  std::function<void(const fs::path&)> apply;
};
class DamageTest : public ImageCacheTest, public ::testing::WithParamInterface<Damage> {};

TEST_P(DamageTest, IsAMissWithOneWarningAndMended) {
  const CacheEntry good = entry("a", std::string(300, 'x'));
  store_image(good);
  GetParam().apply(file(good));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(find_image(good.name), std::nullopt);
  EXPECT_EQ(find_image(good.name), std::nullopt);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(CacheEvent::broken), 2);
  EXPECT_NE(warning.find(file(good).string() + " is broken"), std::string::npos) << warning;
  EXPECT_EQ(warning.find(" is broken"), warning.rfind(" is broken")) << warning;
  store_image(good);
  EXPECT_EQ(find_image(good.name), good.payload);
  EXPECT_EQ(files(), 1);
}

void flip(const fs::path& path, std::size_t at) {
  std::string bytes = file_text(path);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamageTest,
    ::testing::Values(Damage{"Empty", [](const fs::path& path) { fs::resize_file(path, 0); }},
                      Damage{"Half", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
                      Damage{"FlippedHeader", [](const fs::path& path) { flip(path, 20); }},
                      Damage{"FlippedPayload", [](const fs::path& path) { flip(path, fs::file_size(path) - 1); }},
                      Damage{"Longer", [](const fs::path& path) { std::ofstream(path, std::ios::app) << "more"; }},
                      Damage{"Folder",
                             [](const fs::path& path) {
                               fs::remove(path);
                               fs::create_directories(path / "below");
                             }},
                      Damage{"Pipe",
                             [](const fs::path& path) {
                               fs::remove(path);
                               ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
                             }},
                      Damage{"AnotherEntry",
                             [](const fs::path& path) {
                               std::ofstream(path, std::ios::binary)
                                   << encode_entry({entry_name("b", "tileirbc"), "", "other"});
                             }}),
    [](const auto& test) { return test.param.name; });

TEST_F(ImageCacheTest, AnEntryThatAllMayWriteIsNotUsed) {
  store_image(entry("a"));
  fs::permissions(file(entry("a")), fs::perms::others_write, fs::perm_options::add);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(find_image(entry("a").name), std::nullopt);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("chmod o-w"), std::string::npos) << warning;
  EXPECT_EQ(count_of(CacheEvent::untrusted), 1);
  store_image(entry("a"));
  EXPECT_EQ(find_image(entry("a").name), "image");
}

TEST_F(ImageCacheTest, EntriesAreClosedToOthersWhateverTheMask) {
  const mode_t mask = umask(0);
  store_image(entry("a"));
  umask(mask);
  EXPECT_EQ(find_image(entry("a").name), "image");
}

TEST_F(ImageCacheTest, AFullDiskKeepsNothingAndSaysSoOnce) {
  ASSERT_TRUE(fs::create_directories(root_));
  place_.write("cache/images", "a file where the folder should be");
  ::testing::internal::CaptureStderr();
  store_image(entry("a"));
  store_image(entry("b"));
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(CacheEvent::unwritable), 2);
  EXPECT_EQ(warning.find("does not fit"), warning.rfind("does not fit")) << warning;
  EXPECT_NE(warning.find(root_.string()), std::string::npos) << warning;
}

TEST_F(ImageCacheTest, OffNeitherReadsNorStores) {
  store_image(entry("a"));
  const ScopedVariable off("TILEGYM_RS_CACHE", "off");
  EXPECT_EQ(find_image(entry("a").name), std::nullopt);
  store_image(entry("b"));
  EXPECT_EQ(files(), 1);
}

TEST_F(ImageCacheTest, RefreshStoresWithoutReading) {
  store_image(entry("a", "old"));
  {
    const ScopedVariable refresh("TILEGYM_RS_CACHE", "refresh");
    EXPECT_EQ(find_image(entry("a").name), std::nullopt);
    store_image(entry("a", "new"));
  }
  EXPECT_EQ(find_image(entry("a").name), "new");
}

TEST_F(ImageCacheTest, SeedsAreReadAndLeftAlone) {
  const ScopedVariable seed("TILEGYM_RS_CACHE_DIR", (place_.path() / "seed").string());
  store_image(entry("a"));
  const ScopedVariable own("TILEGYM_RS_CACHE_DIR", root_.string());
  const ScopedVariable seeds("TILEGYM_RS_CACHE_SEEDS",
                             (place_.path() / "none").string() + ":" + (place_.path() / "seed").string());
  EXPECT_EQ(find_image(entry("a").name), "image");
  store_image(entry("b"));
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(all_entries().size(), 2);
}

TEST_F(ImageCacheTest, TheRecordGetsWhatIsFoundAndWhatIsStored) {
  store_image(entry("a"));
  const ScopedVariable record("TILEGYM_RS_CACHE_RECORD", (place_.path() / "record").string());
  EXPECT_EQ(find_image(entry("a").name), "image");
  store_image(entry("b"));
  EXPECT_EQ(entries_in(place_.path() / "record/images").size(), 2);
}

TEST_F(ImageCacheTest, TheLeastRecentlyUsedGoFirst) {
  const std::string payload(1000, 'x');
  for (const char* key : {"a", "b", "c"}) {
    store_image(entry(key, payload));
    const auto early = fs::file_time_type::clock::now() - std::chrono::hours(*key == 'a' ? 3 : 2);
    fs::last_write_time(file(entry(key)), early);
  }
  EXPECT_EQ(find_image(entry("a").name), payload) << "and is the last one used from here on";
  const ScopedVariable limit("TILEGYM_RS_CACHE_MAX", "4000");
  store_image(entry("d", payload));
  EXPECT_EQ(find_image(entry("a").name), payload);
  EXPECT_EQ(find_image(entry("d").name), payload);
  EXPECT_EQ(count_of(CacheEvent::evicted), files() == 3 ? 1 : 2);
  EXPECT_LE(cache_contents().bytes, 4000);
}

TEST_F(ImageCacheTest, TheNewestOfSimilarEntriesIsFound) {
  const std::string stem = entry_name("a", "");
  for (const char* kind : {"1111111111111111.cubin", "2222222222222222.cubin", "tileirbc"}) {
    store_image({entry_name("a", kind), "", kind});
  }
  fs::last_write_time(images_in(root_) / entry_name("a", "2222222222222222.cubin"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(find_similar_image(stem, ".cubin"), "1111111111111111.cubin");
  EXPECT_EQ(find_similar_image(entry_name("b", ""), ".cubin"), std::nullopt);
}

TEST_F(ImageCacheTest, AnImportedEntryIsFoundAndABrokenOneRefused) {
  ASSERT_TRUE(import_entry(encode_entry(entry("a"))).ok());
  EXPECT_EQ(find_image(entry("a").name), "image");
  EXPECT_FALSE(import_entry("no entry").ok());
  const ScopedVariable off("TILEGYM_RS_CACHE", "off");
  EXPECT_FALSE(import_entry(encode_entry(entry("a"))).ok());
}

TEST_F(ImageCacheTest, ClearLeavesNothing) {
  store_image(entry("a"));
  EXPECT_TRUE(fs::is_regular_file(keep_failed("k<f32>", "bytecode")));
  EXPECT_EQ(clear_cache(), 2);
  EXPECT_EQ(files(), 0);
}

TEST_F(ImageCacheTest, KeptBytecodeIsNamedByKernelAndContent) {
  const fs::path kept = keep_failed("k<E = f32>(x: f32 [2])", "bytecode");
  EXPECT_EQ(file_text(kept), "bytecode");
  EXPECT_EQ(kept, keep_failed("k<E = f32>(x: f32 [2])", "bytecode"));
  EXPECT_EQ(kept.filename().string().find("k-E---f32--x--f32--2--"), 0) << kept;
}

TEST_F(ImageCacheTest, ThreadsAndADeleterNeverMeetAnError) {
  const std::string payload(5000, 'x');
  std::atomic<bool> done = false;
  std::thread deleter([&] {
    while (!done) {
      std::error_code ignored;
      fs::remove_all(images_in(root_), ignored);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        store_image(entry(std::to_string(round), payload));
        const std::optional<std::string> found = find_image(entry(std::to_string(round)).name);
        EXPECT_TRUE(!found || *found == payload);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  done = true;
  deleter.join();
  EXPECT_EQ(count_of(CacheEvent::broken), 0);
  for (const CacheFile& file : list_cache_files(root_)) {
    EXPECT_FALSE(file.path.filename().string().starts_with(".")) << file.path;
  }
}

TEST_F(ImageCacheTest, TotalsAreThoseOfEndedProcesses) {
  EXPECT_EXIT(
      {
        store_image(entry("a"));
        find_image(entry("a").name);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(cache_totals(root_)[static_cast<std::size_t>(CacheEvent::stored)], 1);
  EXPECT_EQ(find_image(entry("a").name), "image");
  forget_cache_totals(root_);
  EXPECT_EQ(cache_totals(root_), CacheCounts{});
}

}  // namespace
}  // namespace tilegym::runtime
