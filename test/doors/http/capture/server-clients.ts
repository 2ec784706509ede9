// What PostHog's libraries for other languages than JavaScript send, one row for each call of a library that has a form of its own: names of fields, spellings of times and ids, and where the
// person is named. Known from their published sources. docs/clients.md lists the libraries.

export interface ClientRow {
  readonly client: string
  readonly call: string
  readonly path: string
  readonly isZipped?: true
  readonly userAgent: string
  /** With KEY for the key of the project. */
  readonly body: object
  readonly stores: readonly {
    readonly event: string
    readonly distinct_id: string
    /** Absent: the server's. */
    readonly uuid?: string
    readonly timestamp: string
    /** Among others. */
    readonly properties?: object
  }[]
  /** Properties of persons by one of their distinct ids. */
  readonly persons?: Readonly<Record<string, object>>
  /** Distinct ids that are one person. */
  readonly same?: readonly [string, string]
  /** Groups as type, key and properties. */
  readonly groups?: readonly (readonly [type: string, key: string, properties: object])[]
}

const id = '0198c0de-0000-7000-8000-00000000000a'
const noon = '2026-01-05T12:00:00'
const stored = (event: string, distinct_id: string, more: object = {}) => ({
  event,
  distinct_id,
  uuid: id,
  timestamp: `${noon}.000Z`,
  ...more,
})
const ofLibrary = (name: string, version = '1.2.3') => ({ $lib: name, $lib_version: version })

const python = { path: '/batch/', userAgent: 'posthog-python/6.7.0' }
const php = { path: '/batch/', userAgent: 'posthog-php/3.7.0' }
const ruby = { path: '/batch/', userAgent: 'posthog-ruby/3.3.0' }
const go = { path: '/batch/', userAgent: 'posthog-go/1.6.0' }
const java = { path: '/batch', userAgent: 'okhttp/4.9.3' }
const dotnet = { userAgent: 'posthog-dotnet/2.0.0 (.NET 9.0.0; Linux; X64)' }
const ios = { path: '/batch', isZipped: true, userAgent: 'posthog-ios/3.30.0' } as const
const android = { path: '/batch', isZipped: true, userAgent: 'posthog-android/3.20.0' } as const

const onPhone = (name: string) => ({
  ...ofLibrary(name),
  $os_name: 'iOS',
  $screen_name: 'Cart',
  $session_id: '0198c0de-0000-7000-8000-0000000000ff',
})
/** Of libraries for phones, whose clocks are an hour behind: it is noon and two seconds at the server. */
const fromPhone = (name: string, uuid: string) => ({
  api_key: 'KEY',
  sent_at: '2026-01-05T11:00:02.000Z',
  batch: [
    { event: 'paid', distinct_id: 'ann', properties: { ...onPhone(name), sum: 3 }, timestamp: '2026-01-05T11:00:00.000Z', uuid },
    { event: '$screen', distinct_id: 'ann', properties: onPhone(name), timestamp: '2026-01-05T10:59:59.250Z' },
  ],
})
const storedOfPhone = (name: string) => [
  { event: '$screen', distinct_id: 'ann', timestamp: '2026-01-05T11:59:59.250Z', properties: { $screen_name: 'Cart' } },
  stored('paid', 'ann', { properties: { ...ofLibrary(name), sum: 3, $screen_name: 'Cart' } }),
]
const identifiedOnPhone = (name: string) => ({
  api_key: 'KEY',
  sent_at: '2026-01-05T12:00:02.000Z',
  batch: [
    { event: 'opened', distinct_id: 'anon-1', properties: onPhone(name), timestamp: '2026-01-05T11:59:59.000Z' },
    {
      event: '$identify',
      distinct_id: 'ann',
      properties: { ...onPhone(name), $anon_distinct_id: 'anon-1', $set: { plan: 'pro' }, $set_once: { came_from: 'ad' } },
      timestamp: `${noon}.000Z`,
      uuid: id,
    },
  ],
})
const storedIdentified = [{ event: 'opened', distinct_id: 'anon-1', timestamp: '2026-01-05T11:59:59.000Z' }, stored('$identify', 'ann')]

export const clientRows: readonly ClientRow[] = [
  {
    client: 'posthog-python',
    call: 'capture',
    ...python,
    isZipped: true,
    body: {
      batch: [
        {
          properties: { sum: 3, $groups: { company: 'acme' }, $geoip_disable: true, ...ofLibrary('posthog-python') },
          timestamp: `${noon}.123456+00:00`,
          distinct_id: 'ann',
          event: 'paid',
          uuid: id,
        },
      ],
      historical_migration: false,
      sentAt: '2026-01-05T12:00:02.000000+00:00',
      api_key: 'KEY',
    },
    stores: [stored('paid', 'ann', { timestamp: `${noon}.123Z`, properties: { sum: 3, ...ofLibrary('posthog-python') } })],
  },
  {
    client: 'posthog-python',
    call: 'set, with $set beside the properties',
    ...python,
    body: {
      batch: [
        {
          properties: ofLibrary('posthog-python'),
          timestamp: `${noon}+00:00`,
          distinct_id: 'ann',
          $set: { plan: 'pro' },
          event: '$set',
          uuid: id,
        },
      ],
      sentAt: '2026-01-05T12:00:02+00:00',
      api_key: 'KEY',
    },
    stores: [stored('$set', 'ann')],
    persons: { ann: { plan: 'pro' } },
  },
  {
    client: 'posthog-python',
    call: 'alias',
    ...python,
    body: {
      batch: [
        {
          properties: { distinct_id: 'anon-1', alias: 'ann', ...ofLibrary('posthog-python') },
          timestamp: `${noon}+00:00`,
          event: '$create_alias',
          distinct_id: 'anon-1',
          uuid: id,
        },
      ],
      sentAt: '2026-01-05T12:00:02+00:00',
      api_key: 'KEY',
    },
    stores: [stored('$create_alias', 'anon-1')],
    same: ['anon-1', 'ann'],
  },
  {
    client: 'posthog-php',
    call: 'capture',
    ...php,
    isZipped: true,
    body: {
      batch: [
        {
          event: 'paid',
          properties: { sum: 3, ...ofLibrary('posthog-php'), $lib_consumer: 'LibCurl', $is_server: true },
          send_feature_flags: false,
          library: 'posthog-php',
          library_version: '1.2.3',
          library_consumer: 'LibCurl',
          distinct_id: 'ann',
          groups: [],
          timestamp: `${noon}+00:00`,
          type: 'capture',
          uuid: id,
        },
      ],
      api_key: 'KEY',
    },
    stores: [stored('paid', 'ann', { properties: { sum: 3, $lib_consumer: 'LibCurl' } })],
  },
  {
    client: 'posthog-php',
    call: 'identify, with $set beside the properties',
    ...php,
    body: {
      batch: [
        {
          event: '$identify',
          $set: { plan: 'pro' },
          properties: { ...ofLibrary('posthog-php') },
          distinct_id: 'ann',
          timestamp: `${noon}+00:00`,
          type: 'identify',
          uuid: id,
        },
      ],
      api_key: 'KEY',
    },
    stores: [stored('$identify', 'ann')],
    persons: { ann: { plan: 'pro' } },
  },
  {
    client: 'posthog-ruby',
    call: 'capture',
    ...ruby,
    body: {
      api_key: 'KEY',
      batch: [
        {
          timestamp: `${noon}.000Z`,
          distinct_id: 'ann',
          properties: { sum: 3, ...ofLibrary('posthog-ruby'), $is_server: true },
          uuid: id,
          type: 'capture',
          event: 'paid',
        },
      ],
    },
    stores: [stored('paid', 'ann', { properties: { sum: 3, ...ofLibrary('posthog-ruby') } })],
  },
  {
    client: 'posthog-ruby',
    call: 'identify, with its properties twice',
    ...ruby,
    body: {
      api_key: 'KEY',
      batch: [
        {
          timestamp: `${noon}.000Z`,
          distinct_id: 'ann',
          properties: { plan: 'pro', ...ofLibrary('posthog-ruby') },
          uuid: id,
          type: 'identify',
          event: '$identify',
          $set: { plan: 'pro' },
        },
      ],
    },
    stores: [stored('$identify', 'ann', { properties: { plan: 'pro' } })],
    persons: { ann: { plan: 'pro' } },
  },
  {
    client: 'posthog-ruby',
    call: 'group_identify',
    ...ruby,
    body: {
      api_key: 'KEY',
      batch: [
        {
          timestamp: `${noon}.000Z`,
          distinct_id: '$company_acme',
          properties: { ...ofLibrary('posthog-ruby'), $group_type: 'company', $group_key: 'acme', $group_set: { seats: 4 } },
          uuid: id,
          event: '$groupidentify',
        },
      ],
    },
    stores: [stored('$groupidentify', '$company_acme')],
    groups: [['company', 'acme', { seats: 4 }]],
  },
  {
    client: 'posthog-go',
    call: 'capture, with nanoseconds',
    ...go,
    body: {
      api_key: 'KEY',
      historical_migration: false,
      batch: [
        {
          uuid: id,
          timestamp: `${noon}.123456789Z`,
          distinct_id: 'ann',
          event: 'paid',
          properties: { sum: 3, ...ofLibrary('posthog-go'), $go_version: 'go1.24', $is_server: true },
        },
      ],
    },
    stores: [stored('paid', 'ann', { timestamp: `${noon}.123Z`, properties: { sum: 3, ...ofLibrary('posthog-go') } })],
  },
  {
    client: 'posthog-go',
    call: 'alias, whose person is named in the properties only',
    ...go,
    body: {
      api_key: 'KEY',
      batch: [
        {
          type: 'alias',
          library: 'posthog-go',
          library_version: '1.2.3',
          timestamp: `${noon}Z`,
          properties: { distinct_id: 'ann', alias: 'anon-1', ...ofLibrary('posthog-go') },
          event: '$create_alias',
        },
      ],
    },
    stores: [{ event: '$create_alias', distinct_id: 'ann', timestamp: `${noon}.000Z` }],
    same: ['ann', 'anon-1'],
  },
  {
    client: 'posthog-java',
    call: 'capture, without an id',
    ...java,
    body: {
      api_key: 'KEY',
      batch: [
        { timestamp: `${noon}.123456789Z`, distinct_id: 'ann', event: 'paid', properties: { sum: 3 } },
        { timestamp: `${noon}.500Z`, distinct_id: 'ann', event: 'seen' },
      ],
    },
    stores: [
      { event: 'paid', distinct_id: 'ann', timestamp: `${noon}.123Z`, properties: { sum: 3 } },
      { event: 'seen', distinct_id: 'ann', timestamp: `${noon}.500Z` },
    ],
  },
  {
    client: 'posthog-java',
    call: 'setOnce, an event of its own name',
    ...java,
    body: {
      api_key: 'KEY',
      batch: [
        { timestamp: `${noon}Z`, distinct_id: 'ann', event: '$set', properties: { $set: { plan: 'pro' } } },
        {
          timestamp: '2026-01-05T12:00:01Z',
          distinct_id: 'ann',
          event: '$set_once',
          properties: { $set_once: { plan: 'free', came_from: 'ad' } },
        },
      ],
    },
    stores: [
      { event: '$set', distinct_id: 'ann', timestamp: `${noon}.000Z` },
      { event: '$set_once', distinct_id: 'ann', timestamp: '2026-01-05T12:00:01.000Z' },
    ],
    persons: { ann: { plan: 'pro', came_from: 'ad' } },
  },
  {
    client: 'posthog-dotnet',
    call: 'capture in a batch, with a misspelled field',
    ...dotnet,
    path: '/batch',
    body: {
      api_key: 'KEY',
      historical_migrations: false,
      batch: [
        {
          uuid: id,
          event: 'paid',
          distinct_id: 'ann',
          properties: { sum: 3, distinct_id: 'ann', ...ofLibrary('posthog-dotnet'), $geoip_disable: true },
          timestamp: `${noon}.0000000+00:00`,
        },
      ],
    },
    stores: [stored('paid', 'ann', { properties: { sum: 3, ...ofLibrary('posthog-dotnet') } })],
  },
  {
    client: 'posthog-dotnet',
    call: 'identify, one event alone',
    ...dotnet,
    path: '/capture',
    body: {
      event: '$identify',
      distinct_id: 'ann',
      properties: {
        $set: { plan: 'pro' },
        $set_once: { came_from: 'ad' },
        ...ofLibrary('posthog-dotnet'),
        $os: 'Linux',
        $framework: '.NET 9.0.0',
        $arch: 'X64',
        $geoip_disable: true,
      },
      api_key: 'KEY',
      timestamp: '2026-01-05T13:00:00+01:00',
    },
    stores: [{ event: '$identify', distinct_id: 'ann', timestamp: `${noon}.000Z` }],
    persons: { ann: { plan: 'pro', came_from: 'ad' } },
  },
  {
    client: 'posthog-ios',
    call: 'capture, with an id in capital letters',
    ...ios,
    body: fromPhone('posthog-ios', id.toUpperCase()),
    stores: storedOfPhone('posthog-ios'),
  },
  {
    client: 'posthog-ios',
    call: 'identify',
    ...ios,
    body: identifiedOnPhone('posthog-ios'),
    stores: storedIdentified,
    same: ['ann', 'anon-1'],
    persons: { ann: { plan: 'pro', came_from: 'ad' } },
  },
  {
    client: 'posthog-android',
    call: 'capture',
    ...android,
    body: fromPhone('posthog-android', id),
    stores: storedOfPhone('posthog-android'),
  },
  {
    client: 'posthog-android',
    call: 'identify',
    ...android,
    body: identifiedOnPhone('posthog-android'),
    stores: storedIdentified,
    same: ['ann', 'anon-1'],
    persons: { ann: { plan: 'pro', came_from: 'ad' } },
  },
  {
    client: 'posthog-flutter',
    call: 'capture, through the library of the phone',
    ...ios,
    body: fromPhone('posthog-flutter', id.toUpperCase()),
    stores: storedOfPhone('posthog-flutter'),
  },
]
