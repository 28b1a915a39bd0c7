import { createHmac } from 'node:crypto'
import t from 'tap'
import { hmacSha256 } from '../../infra/secrets/hmac.ts'
import { fc } from '../support/properties.ts'

t.test('it is the HMAC of the library, for keys and messages of any length', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.oneof(fc.string({ unit: 'binary', maxLength: 3_000 }), fc.uint8Array({ maxLength: 3_000 })),
      (key, message) =>
        hmacSha256(key, message, 'hex') === createHmac('sha256', key).update(message).digest('hex'),
    ),
    {
      examples: [
        [new Uint8Array(65), ''],
        [new Uint8Array(64), '\ud800'],
        [new Uint8Array(0), 'é'.repeat(9_000)],
      ],
    },
  )
})
