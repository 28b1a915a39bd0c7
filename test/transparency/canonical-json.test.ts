import canonicalize from 'canonicalize'
import t from 'tap'
import { canonicalJson } from '../../infra/transparency/canonical-json.ts'
import { fc } from '../support/properties.ts'

t.test('canonical JSON is that of the package, for all that JSON can say', async () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: 'binary' }),
      (value) => canonicalJson(value) === canonicalize(value),
    ),
    {
      numRuns: 2_000,
      examples: [
        [{ b: 1, a: -0 }],
        [{ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7 }],
        [1e21],
        [4.5e-7],
      ],
    },
  )
})

t.test('members that are undefined are left out, as they are in what is stored', async (t) => {
  t.equal(canonicalJson({ b: undefined, a: { c: undefined } }), '{"a":{}}')
})
