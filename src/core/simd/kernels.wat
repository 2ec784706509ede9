;; Kernels of folds: loops over a piece of a column that lies in this memory. kernels.ts says where, and reference.ts has the same loops in JavaScript.
;; Bits are numbered from the lowest bit of the lowest byte. Columns are read in steps of 16 values: what is behind their end is not counted.

(module
  (memory (export "memory") 8)

  ;; A bit for each of `n` codes of one byte: whether it is in the set. Byte `l` of the set has the codes with the low half `l`: bit `h` of the first 16
  ;; bytes for a high half `h` below 8, of the last 16 bytes for the others.
  (func (export "names") (param $at i32) (param $n i32) (param $set i32) (param $bits i32)
    (local $low v128) (local $high v128) (local $places v128) (local $codes v128) (local $place v128) (local $i i32)
    (local.set $low (v128.load (local.get $set)))
    (local.set $high (v128.load offset=16 (local.get $set)))
    (local.set $places (v128.const i8x16 1 2 4 8 16 32 64 -128 1 2 4 8 16 32 64 -128))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $codes (v128.load (i32.add (local.get $at) (local.get $i))))
        (local.set $place (i8x16.swizzle (local.get $places) (i8x16.shr_u (local.get $codes) (i32.const 4))))
        (i32.store16
          (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))
          (i8x16.bitmask
            (i8x16.eq
              (local.get $place)
              (v128.and
                (local.get $place)
                (v128.bitselect
                  (i8x16.swizzle (local.get $high) (v128.and (local.get $codes) (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15)))
                  (i8x16.swizzle (local.get $low) (v128.and (local.get $codes) (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15)))
                  (i8x16.shr_s (local.get $codes) (i32.const 7)))))))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next)))
    (call $cut (local.get $n) (local.get $bits)))

  ;; Clears the bits behind the first `n`, up to the next multiple of 64.
  (func $cut (param $n i32) (param $bits i32)
    (local $last i32)
    (if (i32.and (local.get $n) (i32.const 63))
      (then
        (local.set $last (i32.add (local.get $bits) (i32.shl (i32.shr_u (local.get $n) (i32.const 6)) (i32.const 3))))
        (i64.store
          (local.get $last)
          (i64.and
            (i64.load (local.get $last))
            (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (i32.and (local.get $n) (i32.const 63)))) (i64.const 1)))))))

  ;; Codes of two bytes in one byte each: those above 255 become 255.
  (func (export "narrow") (param $at i32) (param $n i32) (param $out i32)
    (local $i i32) (local $from i32)
    (local.set $from (local.get $at))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (v128.store
          (i32.add (local.get $out) (local.get $i))
          (i8x16.narrow_i16x8_u
            (i16x8.min_u (v128.load (local.get $from)) (v128.const i16x8 255 255 255 255 255 255 255 255))
            (i16x8.min_u (v128.load offset=16 (local.get $from)) (v128.const i16x8 255 255 255 255 255 255 255 255))))
        (local.set $from (i32.add (local.get $from) (i32.const 32)))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next))))

  ;; Keeps the bits of those of `n` bytes that are 1.
  (func (export "ones") (param $at i32) (param $n i32) (param $bits i32)
    (local $i i32) (local $to i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $to (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3))))
        (i32.store16
          (local.get $to)
          (i32.and
            (i32.load16_u (local.get $to))
            (i8x16.bitmask
              (i8x16.eq (v128.load (i32.add (local.get $at) (local.get $i))) (v128.const i8x16 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1)))))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next))))

  ;; The numbers of the bits that are set among `n`, in two bytes each. Returns how many. `table`: for each byte the numbers of its bits, in 8 bytes.
  ;; Reads bits in steps of 64, and writes up to 14 bytes more than it returns.
  (func (export "positions") (param $bits i32) (param $n i32) (param $table i32) (param $out i32) (result i32)
    (local $i i32) (local $to i32) (local $byte i32) (local $end i32)
    (local.set $to (local.get $out))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $end (i32.add (local.get $i) (i32.const 64)))
        (if (i64.eqz (i64.load (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))))
          (then (local.set $i (local.get $end)))
          (else
            (loop $byByte
              (local.set $byte (i32.load8_u (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))))
              (v128.store (local.get $to)
                (i16x8.add
                  (i16x8.splat (local.get $i))
                  (v128.load8x8_u (i32.add (local.get $table) (i32.shl (local.get $byte) (i32.const 3))))))
              (local.set $to (i32.add (local.get $to) (i32.shl (i32.popcnt (local.get $byte)) (i32.const 1))))
              (local.set $i (i32.add (local.get $i) (i32.const 8)))
              (br_if $byByte (i32.lt_u (local.get $i) (local.get $end))))))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $to) (local.get $out)) (i32.const 1)))
)
