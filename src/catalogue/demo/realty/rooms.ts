import { type Estate, RENT_TERMS, RENT_TERMS_EN, SALE_TERMS, SALE_TERMS_EN, words } from './estate.ts';

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
