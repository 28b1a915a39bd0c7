import { join } from 'node:path'

const here = import.meta.dirname

/** The project's directory, whether this runs from the sources or from `dist`. */
export const root = here.includes('/dist/') ? join(here, '../../..') : join(here, '../..')
