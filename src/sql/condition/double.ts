import { type Fragment, sql } from "../text/fragment.ts";
import { doubleLiteral } from "./value.ts";

/*
 * Arithmetic of doubles as IEEE 754 has it. Postgres raises an error where a result is infinite or
 * zero that would not be so with a wider exponent, and an error ends the statement; so such results
 * are foreseen. What may overflow or underflow is first computed on operands that are scaled by a
 * power of two: that changes no digit, and the scaled result tells whether the true one fits.
 * Operands are repeated: they are columns, never constants that the planner could fold.
 */

const power = (exponent: number): Fragment => doubleLiteral(2 ** exponent);
const infinity = doubleLiteral(Number.POSITIVE_INFINITY);
const minusInfinity = doubleLiteral(Number.NEGATIVE_INFINITY);
const nan = doubleLiteral(Number.NaN);
const zero = doubleLiteral(0);

// Scaling by this leads from the far end of the exponents well inside, and back.
const up = power(600);
const down = power(-600);

/** A double times this leaves its upper half of digits when the rest is subtracted again. */
const splitter = doubleLiteral(2 ** 27 + 1);

/** `a + b`. */
export function addDoubles(a: Fragment, b: Fragment): Fragment {
  return sql`case
    when abs(${a}) < ${power(960)} or abs(${b}) < ${power(960)} then ${a} + ${b}
    when abs(${a}) >= ${infinity} or abs(${b}) >= ${infinity} then ${a} + ${b}
    when abs(${a} * 0.5 + ${b} * 0.5) < ${power(1023)} then ${a} + ${b}
    when ${a} > 0 then ${infinity}
    else ${minusInfinity}
  end`;
}

/** `a * b`. The sign of a zero is not kept. */
export function multiplyDoubles(a: Fragment, b: Fragment): Fragment {
  const larger = sql`greatest(abs(${a}), abs(${b}))`;
  const smaller = sql`least(abs(${a}), abs(${b}))`;
  return sql`case
    when ${a} = 0 or ${b} = 0 or ${larger} >= ${infinity} then ${a} * ${b}
    when ${smaller} >= ${power(-500)} and ${larger} <= ${power(500)} then ${a} * ${b}
    when ${smaller} >= ${power(512)} then ${signedInfinity(a, b)}
    when ${smaller} >= 1 then case
      when ${larger} * ${down} * ${smaller} >= ${power(424)} then ${signedInfinity(a, b)}
      else ${a} * ${b}
    end
    when ${larger} >= 1 then ${a} * ${b}
    when ${larger} < ${power(-538)} then ${zero}
    when ${smaller} * ${up} * ${larger} < ${power(-475)} then ${zero}
    when ${smaller} * ${up} * ${larger} = ${power(-475)}
    and not ${isRoundedDown(sql`${smaller} * ${up}`, larger, power(-475))} then ${zero}
    else ${a} * ${b}
  end`;
}

/**
 * Whether the true product of two doubles is above the rounded one. A product just above the middle
 * between zero and the least double is rounded to the middle where there are more digits, but is not
 * zero. The digits that rounding lost are those of Dekker's product (1971): each factor is split in
 * two halves, whose products are exact.
 */
function isRoundedDown(a: Fragment, b: Fragment, rounded: Fragment): Fragment {
  const lost = sql`
    h.a * h.b - ${rounded} + h.a * (h.y - h.b) + (h.x - h.a) * h.b + (h.x - h.a) * (h.y - h.b)
  `;
  return sql`(
    select ${lost} > 0
    from (
      select v.x, v.y, v.x * ${splitter} - (v.x * ${splitter} - v.x) as a,
        v.y * ${splitter} - (v.y * ${splitter} - v.y) as b
      from (select ${a} as x, ${b} as y offset 0) v
    ) h
  )`;
}

/** `a / b`, where a zero divisor counts as positive and the sign of a zero is not kept. */
export function divideDoubles(a: Fragment, b: Fragment): Fragment {
  const over = sql`abs(${a})`;
  const under = sql`abs(${b})`;
  return sql`
    case
      when ${b} = 0 then case
        when ${a} = 0 or ${a} = ${nan} then ${nan}
        when ${a} > 0 then ${infinity}
        else ${minusInfinity}
      end
      when ${over} >= ${infinity} or ${a} = 0 or ${b} = ${nan} then ${a} / ${b}
      when ${under} = ${infinity} then ${zero}
      when ${over} between ${power(-500)} and ${power(500)}
      and ${under} between ${power(-500)} and ${power(500)} then ${a} / ${b}
      when ${under} < 2 then case
        when ${overflows(over, under)} then ${signedInfinity(a, b)}
        else ${a} / ${b}
      end
      when ${over} >= ${power(-50)} then ${a} / ${b}
      when ${vanishes(over, under)} then ${zero}
      else ${a} / ${b}
    end
  `;
}

/** Whether the quotient is too large, of two positive doubles of which the divisor is below 2. */
function overflows(over: Fragment, under: Fragment): Fragment {
  return sql`
    case
      when ${over} >= 1
      and ${under} >= ${power(-500)} then ${over} * ${down} / ${under} >= ${power(424)}
      when ${over} >= 1 then ${over} * ${down} / (${under} * ${up}) >= ${power(-176)}
      when ${under} >= ${power(-1000)} then false
      else ${over} / (${under} * ${up}) >= ${power(424)}
    end
  `;
}

/** Whether the quotient is nearer to zero than to any other double; the divisor is 2 or more. */
function vanishes(over: Fragment, under: Fragment): Fragment {
  return sql`case
    when ${under} <= ${power(500)} then ${over} * ${up} / ${under} <= ${power(-475)}
    else ${over} * ${up} / (${under} * ${down}) <= ${power(125)}
  end`;
}

function signedInfinity(a: Fragment, b: Fragment): Fragment {
  return sql`case when (${a} < 0) = (${b} < 0) then ${infinity} else ${minusInfinity} end`;
}
