/** Whoever may not change or remove what is another user's goes on all the same. */
export function ifPossible(work: () => void): void {
  try {
    work()
  } catch {
    // It is in nobody's way, and stays for whoever may.
  }
}
