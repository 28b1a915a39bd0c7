/** What we write to people in. */
export type Language = 'fr' | 'en'

/** Countries whose customers are written to in French where nobody knows better. */
const french = ['BF', 'BJ', 'CD', 'CF', 'CG', 'CI', 'CM', 'GA', 'GN', 'ML', 'NE', 'SN', 'TD', 'TG']

export function languageOf(country: string): Language {
  return french.includes(country) ? 'fr' : 'en'
}
