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

export const HOUSES: Estate = {
  category: 'дома',
  gender: 'm',
  weight: 13,
  rentShare: 0.15,
  area: [40, 300],
  metreShare: 0.42,
  rentPerMonth: 0.0042,
  sale: {
    ru: words(
      `
        Дом $area м², участок $plot
        Дом $area м² на участке $plot
        Коттедж $area м², $storeys
        Продам дом, $area м², $plot
        `,
      `
        Дом $area м², $roomsWord, $storeys, участок $plot. До центра города $km км
        Продаётся [кирпичный|бревенчатый|каркасный|газобетонный] дом, $area м², участок $plot, $km км от центра
        Коттедж $within, $area м², $roomsWord, построен в $built году
        `,
      `
        [Газ, вода и свет подведены|Газ по границе, скважина, септик|Отопление газовое, тёплые полы]
        На участке [баня и теплица|гараж и сад|беседка и мангальная зона|плодовые деревья], забор [из профлиста|кирпичный|деревянный]
        Подъезд круглый год, [рядом лес и пруд|школа и магазин в посёлке|автобус до города]
        [Под чистовую отделку|С мебелью|Готов к проживанию], [подходит для постоянной жизни|можно прописаться]
        `,
      SALE_TERMS,
    ),
    en: words(
      `
        House for sale, $area m²
        $area m² house $within
        `,
      `
        House of $area m², $rooms rooms, $storeys, plot of $plot, $km km to the centre
        `,
      `
        Gas, water and electricity are connected, all-year road
        There is a sauna, a garage and a garden
        Ready to move in, furniture is negotiable
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам дом, $area м²
        Дом $area м² в аренду, $km км от города
        Сдаётся коттедж $area м²
        `,
      `
        Сдаётся дом $area м², $roomsWord, участок $plot, $km км до центра
        Можно снять дом на длительный срок: $area м², $roomsWord, $km км до центра
        `,
      `
        [Мебель и техника есть|Частично с мебелью], отопление [газовое|электрическое], горячая вода
        [Можно с детьми и животными|Для семьи|Для бригады не сдаётся], парковка на два автомобиля
        Во дворе [мангал и беседка|баня|место для машины], тихая улица
        `,
      RENT_TERMS,
    ),
    en: words(
      `
        House for rent, $area m²
        `,
      `
        $area m² house, $rooms rooms, plot of $plot, $km km to the centre
        `,
      `
        Furnished, gas heating, parking for two cars
        Families with children and pets are welcome
        `,
      RENT_TERMS_EN,
    ),
  },
};

export const ROOMS: Estate = {
  category: 'комнаты',
  gender: 'f',
  weight: 8,
  rentShare: 0.6,
  area: [9, 24],
  metreShare: 0.72,
  rentPerMonth: 0.0085,
  sale: {
    ru: words(
      `
        Комната $area м², $floor/$floors эт.
        Продам комнату, $area м², $place
        Комната в общежитии, $area м²
        `,
      `
        Продаётся комната $area м², $address, этаж $floor из $floors
        Комната $area м² [в трёхкомнатной квартире|в секции|в коммунальной квартире], $place
        `,
      `
        [Соседи спокойные|На кухне две плиты|Санузел после ремонта], [окно пластиковое|дверь железная]
        [Хороший вариант для студента|Подойдёт под сдачу|Первое своё жильё], до остановки $minutes
        `,
      SALE_TERMS,
    ),
    en: words(
      `
        Room for sale, $area m²
        `,
      `
        Room of $area m² in a shared flat near $place, floor $floor of $floors
        `,
      `
        Quiet neighbours, new window, shared kitchen
        Good for a student, $minutes minutes to the bus stop
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: {
    ru: words(
      `
        Сдам комнату, $area м²
        Сдаётся комната, $place
        Комната в аренду, $area м²
        `,
      `
        Сдаётся комната $area м² [в двухкомнатной квартире|в трёхкомнатной квартире|в коммуналке], $place
        Сдам комнату [девушке|студентке|одному человеку|паре], $area м², $address
        `,
      `
        Есть [кровать, шкаф и стол|диван и шкаф|вся мебель], интернет, стиральная машина общая
        [Хозяйка не живёт|В квартире ещё один жилец|Хозяин живёт в соседней комнате], [без вредных привычек|порядок обязателен]
        До остановки $minutes, рядом [вуз|магазины|рынок]
        `,
      RENT_TERMS,
    ),
    en: words(
      `
        Room for rent, $area m²
        Room to let near $place
        `,
      `
        Furnished room of $area m² near $place, shared kitchen and bathroom
        `,
      `
        Fast internet, a washing machine, quiet neighbours
        For one person, no smoking, $minutes minutes to the bus stop
        `,
      RENT_TERMS_EN,
    ),
  },
};
