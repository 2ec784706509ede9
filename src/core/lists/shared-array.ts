export interface ArrayType<V> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: SharedArrayBuffer): V
}

/** An array that worker threads can read without a copy. */
export const sharedArray = <V>(Type: ArrayType<V>, length: number): V => new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT))
