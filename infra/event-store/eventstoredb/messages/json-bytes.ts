const utf8 = new TextDecoder()

export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.isBuffer(bytes) ? bytes.toString('utf8') : utf8.decode(bytes))
  } catch {
    return undefined
  }
}
