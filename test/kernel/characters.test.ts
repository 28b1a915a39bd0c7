import t from 'tap'
import { firstCharacters, lastCharacters } from '../../packages/contract/locale/characters.ts'
import { fc } from '../support/properties.ts'

t.test('text is cut between characters', async (t) => {
  const count = fc.integer({ min: 1, max: 6 })
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), count, (text, length) => {
      const characters = [...text]
      const [first, last] = [firstCharacters(text, length), lastCharacters(text, length)]
      return (
        first === characters.slice(0, length).join('') &&
        last === characters.slice(-length).join('') &&
        (first + last).isWellFormed()
      )
    }),
  )
  t.equal(lastCharacters('tok_🌍🪙€1', 4), '🌍🪙€1')
  t.equal(lastCharacters('tok_🌍🪙🪙🪙', 3), '🪙🪙🪙')
})
