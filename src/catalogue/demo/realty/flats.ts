import { type Estate, RENT_TERMS, RENT_TERMS_EN, SALE_TERMS, SALE_TERMS_EN, words } from './estate.ts';

export const FLATS: Estate = {
  category: 'квартиры',
  gender: 'f',
  weight: 62,
  rentShare: 0.42,
  area: [19, 190],
  metreShare: 1,
  rentPerMonth: 0.0047,
  sale: {
    ru: words(
      `
        $short, $area м², $floor/$floors эт.
        $flat, $area м²
        $slang, $area м², $floor/$floors эт.
        $slang, $place
        Продам $slangObject, $area м²
        $flat, $place, $area м²
        `,
      `
        Продаётся $flat $within, $address. Площадь $area м², этаж $floor из $floors
        $slang $area м² на $floor этаже из $floors, $place
        $address, $floor/$floors этаж, общая площадь $area м², кухня $kitchen м²
        Продаём $slangObject $within: $area м², кухня $kitchen м²
        Уютная $slang, $area м², $place. Дом $built года
        `,
      `
        [Сделан хороший ремонт|Ремонт свежий, заезжай и живи|Состояние жилое, ремонт под себя|Чистовая отделка], $bath
        [Балкон застеклён|Лоджия утеплена|Есть гардеробная], окна [выходят во двор|на юг|на обе стороны]
        До остановки $minutes пешком, рядом [школа и детский сад|парк|магазины и поликлиника]
        [Мебель и техника остаются|Кухня и шкафы остаются|Мебель по договорённости], соседи спокойные, $lift
        [Квартира тёплая и светлая|Потолки 2,7 м|Трубы и проводка заменены], [коммунальные небольшие|чистый подъезд]
        `,
      SALE_TERMS,
    ),
    en: words(
      `
        $flat for sale, $area m²
        $flat in $city, $area m²
        $flat, $area m², floor $floor of $floors
        `,
      `
        $flat $within, $address, $area m², floor $floor of $floors
        Bright $flat near $place, $area m², kitchen $kitchen m²
        `,
      `
        [Freshly renovated|Needs light renovation|Modern finish], $lift
        $minutes minutes on foot to the bus stop, [a park|schools and shops] nearby
        [Furniture stays|Kitchen stays], windows face the yard
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам квартиру: $short, $area м²
        Сдам $flatObject, $area м²
        Сдаётся $flat, $place
        Сдам $slangObject, $place
        $slang в аренду, $area м²
        $short, $area м², $floor/$floors эт., аренда
        Снять квартиру без посредников: $short, $area м²
        `,
      `
        Сдаётся $flat $within, $address, $area м², этаж $floor из $floors
        Сдаю $slangObject на длительный срок, $place. Площадь $area м²
        Можно снять квартиру на длительный срок: $slang, $area м², $place
        $slang, $floor/$floors, $area м², $address. Если хотите снять квартиру без посредников, пишите
        Хата чистая, $slang $area м², $place. Сдам квартиру на [год и дольше|полгода|долгий срок]
        `,
      `
        Есть [стиральная машина, холодильник, микроволновка|вся мебель и техника|кровать, шкаф, кухня и холодильник], интернет [проведён|подключён]
        [Ремонт свежий|Ремонт простой, но чисто|После косметического ремонта], [тепло зимой|окна во двор], $lift
        [Для семьи, можно с детьми|Для одного или двух человек|Студентам можно], [с кошкой договоримся|без животных|курить только на улице]
        До остановки $minutes пешком, рядом [магазины|парк и школа|вуз]
        `,
      RENT_TERMS,
    ),
    en: words(
      `
        $flat for rent, $area m²
        Rent a $flat in $city
        $flat to let near $place
        `,
      `
        $flat for rent $within, $address, $area m², floor $floor of $floors
        Cosy $flat near $place, $area m², long term rent
        `,
      `
        Furnished, with a [washing machine and a fridge|full kitchen], fast internet
        [Suits a couple or a family|Students are welcome], [pets are negotiable|no pets please]
        $minutes minutes on foot to the bus stop, shops nearby
        `,
      RENT_TERMS_EN,
    ),
  },
};
