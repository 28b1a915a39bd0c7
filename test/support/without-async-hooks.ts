import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

/*
 * The runner loads it before tap, which hooks into every promise to know whose error it is that nobody
 * catches. That costs a service in the same process a fifth of its processor time. Without, such an error
 * still fails its file.
 */
const none = { enable: () => none, disable: () => none }
Object.assign(asyncHooks, { createHook: () => none })
syncBuiltinESMExports()
