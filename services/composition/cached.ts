/** However many ask, one reads, and what it has read serves all for a while. A failure serves nobody else. */
export function cached<Value>(read: () => Promise<Value>, forMs: number): () => Promise<Value> {
  let known: Promise<Value> | undefined
  return () => {
    if (known) return known
    const reading = read()
    const forget = () => (known = undefined)
    reading.then(() => setTimeout(forget, forMs).unref(), forget)
    return (known = reading)
  }
}
