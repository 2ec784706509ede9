// Writes a small database of addresses in the MMDB format: a search tree over the bits of addresses, and records.

type Value = string | number | readonly Value[] | { readonly [key: string]: Value }

const control = (type: number, size: number): number[] => {
  const [first, ...more] = size < 29 ? [size] : size < 285 ? [29, size - 29] : [30, (size - 285) >> 8, (size - 285) & 255]
  return type <= 7 ? [(type << 5) | first!, ...more] : [first!, type - 7, ...more]
}

function encoded(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.from(control(2, Buffer.byteLength(value))), Buffer.from(value)])
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || value < 0) {
      const double = Buffer.alloc(8)
      double.writeDoubleBE(value)
      return Buffer.concat([Buffer.from(control(3, 8)), double])
    }
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([Buffer.from(control(6, 4)), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(control(11, value.length)), ...(value as readonly Value[]).map(encoded)])
  const entries = Object.entries(value)
  return Buffer.concat([Buffer.from(control(7, entries.length)), ...entries.flatMap(([key, inner]) => [encoded(key), encoded(inner)])])
}

/** Keys are IPv4 networks, such as 8.8.8.0/24. */
export function mmdbOf(records: Readonly<Record<string, Value>>): Buffer {
  const nodes: [left: number | null, right: number | null][] = [[null, null]]
  const data: Buffer[] = []
  const leaves: [node: number, side: 0 | 1, offset: number][] = []
  let size = 0
  for (const [network, record] of Object.entries(records)) {
    const [address = '', length = '32'] = network.split('/')
    const bits = address.split('.').flatMap((part) => [...Number(part).toString(2).padStart(8, '0')].map(Number)) as (0 | 1)[]
    let node = 0
    for (const bit of bits.slice(0, Number(length) - 1)) {
      if (nodes[node]![bit] === null) nodes[node]![bit] = nodes.push([null, null]) - 1
      node = nodes[node]![bit]!
    }
    leaves.push([node, bits[Number(length) - 1]!, size])
    const text = encoded(record)
    data.push(text)
    size += text.length
  }
  for (const [node, side, offset] of leaves) nodes[node]![side] = nodes.length + 16 + offset
  const tree = Buffer.alloc(nodes.length * 8)
  for (const [i, [left, right]] of nodes.entries()) {
    tree.writeUInt32BE(left ?? nodes.length, i * 8)
    tree.writeUInt32BE(right ?? nodes.length, i * 8 + 4)
  }
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: 'Test-City',
    description: { en: 'test' },
    ip_version: 4,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 32,
  }
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'), encoded(metadata)])
}
