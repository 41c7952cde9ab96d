#pragma once

#include <pthread.h>

namespace tilegym {

/// State of the calling thread, one T a thread and type. Unlike a thread_local object it is there for as long as the
/// thread calls: destructors of other libraries' thread_local objects, too, find it as it was. It ends with the thread.
template <class T>
class ThreadState {
 public:
  [[nodiscard]] static T& get() {
    if (state == nullptr) [[unlikely]]
      make();
    return *state;
  }

 private:
  // Destructors of keys run after those of thread_local objects, and again for what they make anew.
  static void make() {
    static const pthread_key_t key = [] {
      pthread_key_t made{};
      pthread_key_create(&made, end);
      return made;
    }();
    state = new T;
    pthread_setspecific(key, state);
  }
  static void end(void* ended) {
    state = nullptr;
    delete static_cast<T*>(ended);
  }

  static inline thread_local T* state = nullptr;
};

}  // namespace tilegym
