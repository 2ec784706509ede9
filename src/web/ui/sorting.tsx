import { useState } from 'preact/hooks'

// Tables that sort by a column: once up, once down, and back to the order in which they came.

/** Null: as the rows came. */
export interface Order {
  readonly column: number
  readonly isDown: boolean
}

/** Numbers begin with the largest. */
const next = (order: Order | null, column: number, isNumber: boolean): Order | null => {
  if (order?.column !== column) return { column, isDown: isNumber }
  return order.isDown === isNumber ? { column, isDown: !isNumber } : null
}

export function useOrder() {
  const [order, setOrder] = useState<Order | null>(null)
  return { order, press: (column: number, isNumber: boolean) => setOrder(next(order, column, isNumber)) }
}
export type UsedOrder = ReturnType<typeof useOrder>

export function SortHead({
  title,
  column,
  isNumber = false,
  use: { order, press },
}: {
  title: string
  column: number
  isNumber?: boolean
  use: UsedOrder
}) {
  const isOn = order?.column === column
  return (
    <th class={isNumber ? 'number' : ''} aria-sort={isOn ? (order.isDown ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="plain sort" onClick={() => press(column, isNumber)}>
        {title}
        <span aria-hidden="true">{isOn ? (order.isDown ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  )
}
