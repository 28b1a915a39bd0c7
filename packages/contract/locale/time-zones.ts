/** IANA zones of the countries where merchants are; elsewhere a day is that of UTC. */
const zones: Readonly<Record<string, string>> = {
  BF: 'Africa/Ouagadougou',
  BJ: 'Africa/Porto-Novo',
  CD: 'Africa/Kinshasa',
  CF: 'Africa/Bangui',
  CG: 'Africa/Brazzaville',
  CI: 'Africa/Abidjan',
  CM: 'Africa/Douala',
  CV: 'Atlantic/Cape_Verde',
  GA: 'Africa/Libreville',
  GH: 'Africa/Accra',
  GM: 'Africa/Banjul',
  GN: 'Africa/Conakry',
  GQ: 'Africa/Malabo',
  GW: 'Africa/Bissau',
  LR: 'Africa/Monrovia',
  ML: 'Africa/Bamako',
  MR: 'Africa/Nouakchott',
  NE: 'Africa/Niamey',
  NG: 'Africa/Lagos',
  SL: 'Africa/Freetown',
  SN: 'Africa/Dakar',
  ST: 'Africa/Sao_Tome',
  TD: 'Africa/Ndjamena',
  TG: 'Africa/Lome',
}

/** By which a merchant of this country counts its days. */
export function timeZoneOf(country: string): string {
  return zones[country] ?? 'UTC'
}
