import { listItems } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { CountryQuery, CountryResource, listCountries } from '../actions/geography.ts'

const rows = [
  listItems('GET /api/v1/geography/countries', {
    summary: 'Countries with calling code, currency and an example of a number',
    scope: 'public',
    query: CountryQuery,
    returns: CountryResource,
    items: listCountries,
  }),
]

export const geographyRoutes = section('Reference data', 'Countries, currencies and operators.', rows)
