import { newUser, type SignedIn } from '../../test/support/identities/sign-in.ts'

/** People who have registered at the service on this port, one after the other. */
export async function registerUsers(port: number, count: number): Promise<readonly SignedIn[]> {
  const users: SignedIn[] = []
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  while (users.length < count) users.push(await newUser({ post }))
  return users
}
