import { serve } from '../composition/serve.ts'
import { startApi } from './main.ts'

await serve('api', (runtime) => startApi({ runtime }))
