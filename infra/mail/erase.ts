import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Deletes mails and messages in a directory that contain one of these texts; others may do so meanwhile. */
export async function deleteMailsWith(directory: string, texts: readonly string[]): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => /\.(eml|json)$/.test(each))) {
    const file = join(directory, name)
    // Lines longer than 76 characters are folded.
    const mail = (await readFile(file, 'utf8').catch(unlessGone)).replaceAll('=\r\n', '')
    if (texts.some((text) => mail.includes(text))) await rm(file, { force: true })
  }
}

function unlessGone(error: unknown): string {
  if ((error as { readonly code?: string }).code === 'ENOENT') return ''
  throw error
}
