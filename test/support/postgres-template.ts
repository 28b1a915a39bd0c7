/** Databases that the runner of the suite has prepared, of which others are copies. */
export const templates = {
  migrated: 'ikw_migrated',
  /** With the empty read models and the views that a service makes when it starts for the first time. */
  started: 'ikw_started',
} as const

export type Template = keyof typeof templates

export function onServer(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = database
  return url.href
}
