/** Gives each name an id that is always the same, and reveals nothing to anyone without the key. */
export type BlindIndex = (name: string) => Promise<string>
