/** An id that is always the same for a name, and does not show it to who has not the key. */
export type BlindIndex = (name: string) => Promise<string>
