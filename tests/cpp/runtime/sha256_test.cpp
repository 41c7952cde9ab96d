#include "runtime/sha256.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

// Values of the example files that NIST publishes beside FIPS 180-4.
TEST(Sha256, EmptyText) {
  EXPECT_EQ(Sha256().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OneBlock) {
  EXPECT_EQ(Sha256().update("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, LengthFieldNeedsASecondBlock) {
  EXPECT_EQ(Sha256().update("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, MillionBytesInUnevenPieces) {
  Sha256 hash;
  std::size_t left = 1'000'000;
  for (std::size_t piece = 1; left > 0; piece = piece * 3 % 1009) {
    const std::size_t size = std::min(piece, left);
    hash.update(std::string(size, 'a'));
    left -= size;
  }
  EXPECT_EQ(hash.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace tilegym::runtime
