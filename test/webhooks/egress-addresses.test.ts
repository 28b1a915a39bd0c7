import t from 'tap'
import { addressBlocks, isPublicAddress } from '../../infra/http/addresses.ts'
import { urlFault } from '../../infra/http/url-fault.ts'
import { lawOver } from '../support/law.ts'

const innerAddresses = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'unique local': ['fc00::1', 'fd12:3456::1'],
  'shared between a provider and its customers': ['100.64.0.1', '100.127.255.255'],
  'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  reserved: [
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2001:db8::1',
    '100::1',
    '5f00::1',
  ],
  'IPv4 inside IPv6': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  '6to4': ['2002:7f00:1::1', '2002:808:808::1', '192.88.99.1'],
  Teredo: ['2001::1', '2001:0:7f00:1::1'],
  'what a cloud tells its own machines': [
    '168.63.129.16',
    '169.254.42.42',
    '100.100.100.200',
    '192.0.0.192',
    '192.80.8.124',
    '2604:1380:2:6000::d',
    '199.36.153.4',
    '199.36.153.11',
    '161.26.0.10',
    '166.9.14.1',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  'not an address': ['', 'localhost', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '8.8.8'],
}

for (const [kind, addresses] of Object.entries(innerAddresses)) {
  t.test(`an address that is ${kind} is not public`, async (t) => {
    for (const address of addresses) t.notOk(isPublicAddress(address), address)
  })
}

t.test('addresses of the internet are public', async (t) => {
  for (const address of [
    '8.8.8.8',
    '168.63.129.17',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]) {
    t.ok(isPublicAddress(address), address)
  }
})

t.test('a block that the operator opened is reachable, and nothing beside it', async (t) => {
  const allow = addressBlocks(['127.0.0.1/32', 'fd00::/8'])
  t.ok(isPublicAddress('127.0.0.1', allow))
  t.ok(isPublicAddress('fd00::7', allow))
  t.notOk(isPublicAddress('127.0.0.2', allow))
  t.notOk(isPublicAddress('::ffff:127.0.0.1', allow))
  t.throws(() => addressBlocks(['127.0.0.1']))
})

const refusedUrls = {
  'is not absolute': [
    '',
    'example.com/hook',
    '/hook',
    '//example.com',
    'http:example.com',
    'https:/example.com',
  ],
  'has another scheme': [
    'ftp://example.com',
    'file:///etc/passwd',
    'gopher://example.com',
    'javascript:alert(1)',
  ],
  'carries a user or a password': [
    'https://user@example.com',
    'https://user:secret@example.com',
    'https://@example.com',
  ],
  'is on localhost': [
    'http://localhost',
    'http://LOCALHOST:3000/hook',
    'http://api.localhost',
    'http://localhost./hook',
  ],
  'is on a local network': [
    'http://printer.local',
    'http://metadata.google.internal',
    'http://nas.home.arpa',
    'http://intranet',
  ],
  'ends its host with a dot': ['https://example.com./hook', 'https://127.0.0.1./hook'],
  'spells an address in another way': [
    'http://2130706433',
    'http://0x7f000001',
    'http://0177.0.0.1',
    'http://127.1',
    'http://0x08.8.8.8',
    'http://134744072',
    'http://%31%32%37.0.0.1',
    'http://１２７.0.0.1',
    'http://8。8。8。8',
  ],
  'hides its host': [
    'http://example.com\\@127.0.0.1',
    'http://exa\tmple.com',
    ' https://example.com',
    'https://example.com\n',
  ],
  'has no valid host': [
    'http://',
    'http://?',
    'http://256.256.256.256',
    'http://[::1',
    'http://exa mple.com',
    'http://example.com:99999',
  ],
}

for (const [kind, urls] of Object.entries(refusedUrls)) {
  t.test(`a webhook URL that ${kind} is refused`, async (t) => {
    for (const url of urls) t.type(urlFault(url, { livemode: false, allow: [] }), 'string', url)
  })
}

t.test('a webhook URL with any form of inner address is refused', async (t) => {
  await lawOver(t, Object.values(innerAddresses).flat(), (address) => {
    const host = address.includes(':') ? `[${address}]` : address
    t.type(urlFault(`http://${host}/hook`, { livemode: false, allow: [] }), 'string', host)
  })
})

t.test('an absolute HTTPS URL is accepted in both environments, HTTP in sandbox only', async (t) => {
  const secure = [
    'https://example.com',
    'HTTPS://Example.com:8443/hook?a=b#c',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/x',
    'https://bücher.example/',
  ]
  for (const url of secure) {
    t.equal(urlFault(url, { livemode: true, allow: [] }), undefined, url)
    t.equal(urlFault(url, { livemode: false, allow: [] }), undefined, url)
  }
  t.equal(urlFault('http://example.com/hook', { livemode: false, allow: [] }), undefined)
  t.equal(urlFault('http://example.com/hook', { livemode: true, allow: [] }), 'must use https in live')
})
