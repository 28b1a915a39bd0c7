import { serve } from '../composition/serve.ts'
import { runAuditor } from './auditor.ts'
import { runNotary } from './service.ts'

await serve('notary', async (runtime) => {
  const roles = [runNotary(runtime), runAuditor(runtime)]
  return { close: async () => void (await Promise.all(roles.map((role) => role.close()))) }
})
